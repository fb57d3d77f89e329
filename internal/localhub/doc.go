// Package localhub is a hub of our own: it stands in for a customer's practice
// hub in the demo, in tests and on a new computer. It owns the token endpoint
// (hub-api.md 4.1), the contact lookup (4.3), the message box (4.2), the hub's
// pages (1.8, 1.9, 5.6) and the database and files behind them. It keeps to
// hub-api.md to the byte. GET /openapi.json describes the interfaces, and tells
// what the document says from what was chosen here.
//
// # Goroutines
//
// A hub has one goroutine that accepts connections and net/http's one for each
// connection; with the admin interface as many again. All end with Close, or
// when the context given to Start ends.
//
// # Not documented; we do
//
//   - 4.1, the answer: access_token, token_type "Bearer", expires_in and scope
//     (RFC 6749 5.1). Errors: RFC 6749 5.2. The standard field scope is taken
//     beside scopes; both together must be equal. No scopes, an unknown scope or
//     another organisation's: invalid_scope. A field twice, or credentials in
//     header and body: invalid_request. Fields in the query are not looked at.
//   - 4.1, credentials: first as they stand, then form-encoded (RFC 6749 2.3.1).
//   - 5.1, the JWT: HS256, with iss, sub, iat, exp, jti, client_id, scope,
//     organisation_code and secret_id. A token dies with its client, and with the
//     secret that it was given for.
//   - 5.5, token lifetime: one hour. The Contact API asks for the scope Basic,
//     the Transaction API for P0boxadministrator; without it the answer is 403
//     with insufficient_scope.
//   - 4.3, q: more or less than one q, an empty one or one of more than 256
//     bytes is 400. Words in front of a number and remarks behind it are left
//     out; of a SIP address only the user part counts.
//   - 4.3.2, fewer than nine digits in q, or in a contact's number: no match.
//   - 4.3.3, an e-mail address in q finds the contacts with exactly that
//     address, whatever its case.
//   - 4.3.4, nobody found: 200 with an empty items array.
//   - 2.3: voorvoegsel is an empty string where there is none; only
//     toevoeging and landIso are ever null. Contacts come in the order in which
//     they were stored, all of them. An id is a random UUID.
//   - 4.2, the request: POST only, application/json in UTF-8 only, not
//     compressed. Cache-Control is not looked at. An intermediary that is not
//     in the hub's settings is 404 with unknown_intermediary, compared in its
//     exact case.
//   - 2.1, the body: members beside data, items and message are passed over. A
//     name that stands twice in one object is refused. message is base64 as in
//     RFC 4648 section 4, with its padding and without line breaks.
//   - 2.1, the ZIP file: as package message has it before a message is sent, and
//     without a backslash in a name. Every file is unpacked and its checksum
//     compared. What is in the files is not looked at (2.2).
//   - 4.2, the answer: all items are stored or none. 200 means that they are on
//     the disk; data.items has for each, in their order, id, sha256, size,
//     received (RFC 3339) and repeated. An item that is there already (the same
//     sha256, sender and intermediary) is not stored again and keeps its first
//     id.
//   - 7, errors: the shape of RFC 6749 5.2 everywhere, with 400, 401, 403, 404
//     (an unknown intermediary; a path below these that is none), 405, 408 (a delivery that comes too slowly),
//     413, 415, 421 (a foreign host name), 500, 503 (too many deliveries at one
//     time) and 507 (the disk is full). When
//     one item of a delivery is to blame, "item" says which, from 0.
//   - 8.3, limits of a delivery: 1,000 items and 1 GiB of decoded messages in a
//     request, 1 MiB beside the messages; a ZIP file unpacks to 4 GiB at most,
//     and beyond 32 MiB to 250 times what is packed in it. 30 seconds of
//     silence, less than 8 KiB a second, or an hour in all. 32 are taken at one
//     time, 8 of them of one client; others are told to come again. There is no
//     limit of results of a lookup.
//   - 1.8, the click-through leads to an address that is a setting; by default to
//     a page that says what would open.
//   - 5.6, the ten hours count from the login and are not prolonged. After five
//     wrong passwords for a name from one network (/24, /64), or fifty from it in
//     all, every further one takes twice the wait of the one before, from a second
//     up to five minutes. A browser that the user has logged in with has tries of
//     its own.
//   - 9: nothing is versioned.
//
// # What shows that it keeps to hub-api.md
//
// Beside the tests that are named here, every request that the tests make and
// every answer to it is compared with openapi.json.
//
//   - 1.1: TestDeliverAndRead
//   - 1.2: outside this document: messages are fetched by SOAP; here they are
//     read by commands and calls of this package
//   - 1.3: outside this package: an agreement is between people
//   - 1.4: TestDeliverRefusals, TestDeliverBombs, TestDeliverAllOrNone
//   - 1.5, 1.6: TestLookupEveryField
//   - 1.7: outside this package: it has one collection of contacts, in the place
//     of the back-office system's
//   - 1.8: TestDeepLinkLoginFile, TestBackOfficeAddress, TestLookupBadRequests
//   - 1.9: TestDeepLinkLoginFile, TestLoginLeadsOnlyToOwnPages
//   - 2.1: TestDeliverAndRead, TestDeliverRefusals,
//     TestOpenAPIHasTheDocumentsFields
//   - 2.2: outside this package: how the XML relates to the ZIP file is not
//     shown, and the files in it are not looked at
//   - 2.3: TestLookupEveryField, TestOpenAPIHasTheDocumentsFields
//   - 3: outside this document: no states are shown
//   - 4.1: TestToken, TestTokenCredentials, TestTokenRequests
//   - 4.2: TestDeliverAndRead, TestDeliverAllOrNone, TestDeliverRepeated,
//     TestDeliverRefusals, TestDeliverAtOneTime, TestKillDuringUploads
//   - 4.3: TestLookupEveryField, TestLookupBadRequests, TestBearer
//   - 4.3 rule 1: TestLookupEveryField, TestSample
//   - 4.3 rule 2, 8.1: TestLookupMatchesWhateverTheNotation, TestLastNine
//   - 4.3 rule 3, 4.3 rule 4: TestLookupMatchesWhateverTheNotation
//   - 5.1: TestBearer, TestDeliverNeedsScope
//   - 5.2: TestToken, TestTokenCredentials
//   - 5.3: TestClientsAreChecked
//   - 5.4: TestToken, TestDeliverNeedsScope
//   - 5.5: TestToken, TestBearer, TestDeliverNeedsScope
//   - 5.6, 8.2: TestSessionLastsTenHours, TestLogout, TestBadSessions
//   - 6: outside this document: no events are shown
//   - 7: TestTokenRequests, TestLookupBadRequests, TestDeliverRefusals,
//     TestOpenAPIEveryAnswer, TestOpenAPISilentSender
//   - 8.3: TestDeliverRefusals, TestDeliverBombs, TestDeliverAtOneTime
//   - 9: outside this document: no versions are shown
//
// # Storage
//
// SQLite. Without a folder it lives in memory and nothing is left behind. In a
// folder it is one file readable by its owner only, with SQLite's own files
// beside it. Passwords are kept as bcrypt hashes, client secrets and session
// tokens as SHA-256 of 256 random bits. The keys that sign tokens and forms are
// made at first start and kept there. Messages are files beside it, under their
// checksum; without a folder they are in a temporary one, which goes with Close.
package localhub
