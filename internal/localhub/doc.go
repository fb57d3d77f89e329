// Package localhub is a hub of our own: it replaces a customer's practice hub in the demo,
// in tests and on a new computer. It implements the token endpoint, the Contact API, the
// Transaction API, the hub's pages, and the database and files behind them.
//
// api/openapi.json describes the interfaces, and distinguishes what their documentation
// says from what was chosen here; a hub serves it at /openapi.json, and tests check their
// requests and answers against it. The following is not part of it.
//
// # Interfaces
//
//   - Credentials are tried literally first, then form-encoded (RFC 6749 2.3.1). Fields
//     in the query of a token request are ignored. A token identifies the secret it was
//     issued for (secret_id).
//   - An unknown path below the interfaces is 404 in JSON.
//   - A ZIP file is checked by package message, like a sender does, with wider limits; a
//     backslash in a name is rejected too. The content of the files is not checked.
//   - 8 deliveries of a client are accepted at once. No interface returns messages: commands
//     and calls of this package read them.
//
// # Pages
//
//   - A contact's link leads to the customer file, which cannot be edited. Users who are
//     not logged in see the login page first. The click-through to the back-office client
//     leads to a configurable address; by default to a page that says what would open.
//   - A login lasts ten hours from its start, however busy the user is. After five wrong
//     passwords for a name from one network (/24, /64), the wait doubles with every further
//     one, from a second up to five minutes. Browsers in which the user has logged in before
//     have further tries.
//
// # Goroutines
//
// A hub has one goroutine that accepts connections and net/http's one per connection;
// the admin interface has the same again. All end with Close, or when the context
// given to Start ends.
//
// # Storage
//
// SQLite, in one file readable only by its owner, with SQLite's own files beside it. Passwords
// are stored as bcrypt hashes, client secrets and session tokens as SHA-256 of 256 random bits.
// The keys for signing tokens and cookies are created at the first start and stored there.
// Messages are files beside it, named by their checksum. A hub without a folder has a temporary
// one, removed by Close or, if the hub was killed, at the start of another.
package localhub
