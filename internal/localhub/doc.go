// Package localhub is a hub of our own: it stands in for a customer's practice
// hub in the demo, in tests and on a new computer. It owns the token endpoint,
// the Contact API, the Transaction API, the hub's pages, and the database and
// files behind them. GET /openapi.json describes the interfaces, and tells what
// their documentation says from what was chosen here.
//
// # What is documented
//
// POST /identity/token gives a bearer token, a JWT, by the OAuth 2.0 client
// credentials grant: HTTP Basic with client id and secret, and the form fields
// grant_type and scopes (Basic, P0boxadministrator and
// orgCode:<organisation_code>, with spaces between them).
//
// GET /contact/contacts/telephony?q= gives every contact that has the number, in
// data.items, with the names and in the order of contactJSON. The last nine
// digits are compared, so a country code does not matter. The link of a contact
// leads to <hub>/contacts/viewcontact/<id>: the customer's file, which cannot be
// edited, with a click-through to the back-office client. Who is not logged in
// sees the login page first. A login lasts ten hours.
//
// POST /transaction/<intermediary> delivers data.items[].message, each a ZIP file
// in base64, to the message box. Messages are not fetched by this interface;
// commands and calls of this package read them.
//
// The documentation says nothing about answers to a delivery, errors, limits,
// the life of a token, the scope of the Contact API, and nobody being found.
//
// # Not documented; we do
//
//   - The answer with a token: access_token, token_type "Bearer", expires_in and
//     scope (RFC 6749 5.1). Errors: RFC 6749 5.2. The standard field scope is
//     taken beside scopes; both together must be equal. No scopes, an unknown
//     scope or another organisation's: invalid_scope. A field twice, or
//     credentials in header and body: invalid_request. Fields in the query are
//     not looked at.
//   - Credentials: first as they stand, then form-encoded (RFC 6749 2.3.1).
//   - The JWT: HS256, with iss, sub, iat, exp, jti, client_id, scope,
//     organisation_code and secret_id. A token dies with its client, and with
//     the secret that it was given for.
//   - A token lives for an hour. The Contact API asks for the scope Basic, the
//     Transaction API for P0boxadministrator; without it the answer is 403 with
//     insufficient_scope.
//   - Contact API, q: more or less than one q, an empty one or one of more than
//     256 bytes is 400. Words in front of a number and remarks behind it are
//     left out; of a SIP address only the user part counts.
//   - Fewer than nine digits in q, or in a contact's number: no match.
//   - An e-mail address in q finds the contacts with exactly that address,
//     whatever its case.
//   - Nobody found: 200 with an empty items array.
//   - voorvoegsel is an empty string where there is none; only toevoeging and
//     landIso are ever null. Contacts come in the order in which they were
//     stored, all of them. An id is a random UUID.
//   - A delivery: POST only, application/json in UTF-8 only, not compressed.
//     Cache-Control is not looked at. An intermediary that is not in the hub's
//     settings is 404 with unknown_intermediary, compared in its exact case.
//   - Its body: members beside data, items and message are passed over. A name
//     that stands twice in one object is refused. message is base64 as in RFC
//     4648 section 4, with its padding and without line breaks.
//   - A ZIP file is checked by package message, as a sender does; a backslash in
//     a name is refused, too. Every file is unpacked and its checksum compared.
//     What is in the files is not looked at.
//   - The answer to a delivery: all items are stored or none. 200 means that
//     they are on the disk; data.items has for each, in their order, id, sha256,
//     size, received (RFC 3339) and repeated. An item that is there already (the
//     same sha256, sender and intermediary) is not stored again and keeps its
//     first id.
//   - Errors: the shape of RFC 6749 5.2 everywhere, with 400, 401, 403, 404 (an
//     unknown intermediary; a path below these that is none), 405, 408 (a
//     delivery that comes too slowly), 413, 415, 421 (a foreign host name), 500,
//     503 (too many deliveries at one time) and 507 (the disk is full). When one
//     item of a delivery is to blame, "item" says which, from 0.
//   - Limits of a delivery: 1,000 items and 1 GiB of decoded messages in a
//     request, 1 MiB beside the messages; a ZIP file unpacks to 4 GiB at most,
//     and beyond 32 MiB to 250 times what is packed in it. 30 seconds of
//     silence, less than 8 KiB a second, or an hour in all. 32 are taken at one
//     time, 8 of them of one client; others are told to come again. There is no
//     limit of results of a lookup.
//   - The click-through leads to an address that is a setting; by default to a
//     page that says what would open.
//   - The ten hours count from the login and are not prolonged. After five wrong
//     passwords for a name from one network (/24, /64), or fifty from it in all,
//     every further one takes twice the wait of the one before, from a second up
//     to five minutes. A browser that the user has logged in with has tries of
//     its own.
//
// # Goroutines
//
// A hub has one goroutine that accepts connections and net/http's one for each
// connection; with the admin interface as many again. All end with Close, or
// when the context given to Start ends.
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
