// Package localhub is a hub of our own: it stands in for a customer's practice
// hub in the demo, in tests and on a new computer. It owns the token endpoint,
// the Contact API, the Transaction API, the hub's pages, and the database and
// files behind them.
//
// api/openapi.json describes the interfaces, and tells what their documentation
// says from what was chosen here; a hub serves it at /openapi.json, and tests hold
// their requests and answers against it. What follows is not in it.
//
// # Interfaces
//
//   - Credentials are tried first as they stand, then form-encoded (RFC 6749 2.3.1).
//     Fields in the query of a token request are not looked at. A token names the
//     secret that it was given for (secret_id).
//   - A path below the interfaces that is none of them is 404 in JSON.
//   - A ZIP file is checked by package message, as a sender does, with wider limits;
//     a backslash in a name is refused, too. What is in the files is not looked at.
//   - 32 deliveries are taken at one time, 8 of them of one client. Messages are not
//     fetched by an interface: commands and calls of this package read them.
//
// # Pages
//
//   - The link of a contact leads to the customer's file, which cannot be edited. Who
//     is not logged in sees the login page first. The click-through to the back-office
//     client leads to an address that is a setting; by default to a page that says what
//     would open.
//   - A login lasts ten hours from its beginning, however busy the user is. After five
//     wrong passwords for a name from one network (/24, /64), or fifty from it in all,
//     every further one takes twice the wait of the one before, from a second up to
//     five minutes. A browser that the user has logged in with has tries of its own.
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
