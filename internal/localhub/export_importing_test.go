package localhub

import "context"

// Contact gives what is stored of a contact.
func (d *Data) Contact(ctx context.Context, id string) (r Record, found bool, err error) {
	r, _, found, err = d.byID(ctx, id)
	return r, found, err
}

// Dir is the folder.
func (d *Data) Dir() string { return d.dir }

// Number gives the one number that a query asks for.
func (d *Data) Number(ctx context.Context, query string) (n int, err error) {
	err = d.r.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

// Intact reports whether SQLite finds the database whole.
func (d *Data) Intact(ctx context.Context) (ok bool, err error) {
	var said string
	err = d.r.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&said)
	return said == "ok", err
}
