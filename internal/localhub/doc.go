// Package localhub is a hub of our own: it stands in for a customer's practice
// hub in the demo, in tests and on a new computer. It owns the token endpoint
// (hub-api.md 4.1), the contact lookup (4.3), the hub's pages (1.8, 1.9, 5.6)
// and the database behind them. It keeps to hub-api.md to the byte.
//
// # Goroutines
//
// A hub has one goroutine that accepts connections and net/http's one for each
// connection. All end with Close, or when the context given to Start ends.
//
// # Not documented; we do
//
//   - 4.1, the answer: access_token, token_type "Bearer", expires_in and scope
//     (RFC 6749 5.1). Errors: RFC 6749 5.2. The standard field scope is taken
//     beside scopes; both together must be equal. No scopes, an unknown scope or
//     another organisation's: invalid_scope. A field twice, or credentials in
//     header and body: invalid_request. Fields in the query are not looked at.
//   - 4.1, credentials: first as they stand, then form-encoded (RFC 6749 2.3.1).
//   - 5.1, the JWT: HS256, with iss, sub, iat, exp, jti, client_id, scope and
//     organisation_code. A token dies with its client.
//   - 5.5, token lifetime: one hour. The Contact API asks for the scope Basic;
//     without it the answer is 403 with insufficient_scope.
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
//   - 7, errors: the shape of RFC 6749 5.2 everywhere, with 400, 401, 403, 405,
//     421 (a foreign host name) and 500.
//   - 1.8, the click-through leads to an address that is a setting; by default to
//     a page that says what would open.
//   - 5.6, the ten hours count from the login and are not prolonged. Five wrong
//     passwords for a name, or fifty from an address, in five minutes: wait.
//   - 9: nothing is versioned.
//
// Not here: the Transaction API (hub-api.md 4.2, 2.1, 2.2).
//
// # What shows that it keeps to hub-api.md
//
//   - 1.5, 1.6, 2.3: TestLookupEveryField
//   - 1.8: TestDeepLinkLoginFile, TestBackOfficeAddress
//   - 1.9: TestDeepLinkLoginFile, TestLoginLeadsOnlyToOwnPages
//   - 4.1, 5.2, 5.4: TestToken, TestTokenCredentials, TestTokenRequests
//   - 4.3: TestLookupEveryField, TestLookupBadRequests, TestBearer
//   - 4.3 rule 1: TestLookupEveryField, TestSample
//   - 4.3 rule 2, 8.1: TestLookupMatchesWhateverTheNotation, TestLastNine
//   - 4.3 rules 3 and 4: TestLookupMatchesWhateverTheNotation
//   - 5.1: TestBearer
//   - 5.3: TestClientsAreChecked
//   - 5.6, 8.2: TestSessionLastsTenHours, TestLogout, TestBadSessions
//   - 1.1, 1.4, 2.1, 2.2, 4.2: not here yet
//   - 1.2, 1.3, 1.7, 3, 6: outside this package
//
// # Storage
//
// SQLite. Without a folder it lives in memory and nothing is left behind. In a
// folder it is one file readable by its owner only, with SQLite's own files
// beside it. Passwords are kept as bcrypt hashes, client secrets and session
// tokens as SHA-256 of 256 random bits. The keys that sign tokens and forms are
// made at first start and kept there.
package localhub
