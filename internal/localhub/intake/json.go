package intake

import "unicode/utf8"

// object reads an object; member reads the value of each. A name that stands
// there twice is refused: two readers of the same request could take different
// ones.
func (p *parser) object(member func(name string) error) error {
	c, err := p.token()
	if err != nil {
		return err
	}
	if c != '{' {
		if !startsValue(c) {
			return p.broken()
		}
		return p.refuse(BadShape, "an object is expected")
	}
	names := map[string]bool{}
	for first := true; ; first = false {
		c, err := p.token()
		switch {
		case err != nil:
			return err
		case c == '}' && first:
			return nil
		case c != '"':
			return p.broken()
		}
		name, err := p.text(maxName)
		if err != nil {
			return err
		}
		if names[name] {
			return p.refuse(BadShape, "a member stands there twice")
		}
		if names[name] = true; len(names) > maxNames {
			return p.refuse(TooLarge, "an object has too many members")
		}
		if c, err := p.token(); err != nil {
			return err
		} else if c != ':' {
			return p.broken()
		}
		if err := member(name); err != nil {
			return err
		}
		if c, err = p.token(); err != nil {
			return err
		}
		if c == '}' {
			return nil
		}
		if c != ',' {
			return p.broken()
		}
	}
}

func startsValue(c byte) bool {
	return c == '[' || c == '"' || c == '-' || c >= '0' && c <= '9' || c == 't' || c == 'f' || c == 'n'
}

func (p *parser) array(wrong string, element func() error) error {
	c, err := p.token()
	if err != nil {
		return err
	}
	if c != '[' {
		return p.refuse(BadShape, wrong)
	}
	if c, err = p.token(); err != nil || c == ']' {
		return err
	}
	p.unread()
	for {
		if err := element(); err != nil {
			return err
		}
		if c, err = p.token(); err != nil || c == ']' {
			return err
		}
		if c != ',' {
			return p.broken()
		}
	}
}

// skip reads a value that nobody asked for.
func (p *parser) skip(depth int) error {
	if depth > maxDepth {
		return p.refuse(TooLarge, "the request is nested too deeply")
	}
	c, err := p.token()
	if err != nil {
		return err
	}
	switch c {
	case '"':
		_, err := p.text(maxAround)
		return err
	case '{':
		p.unread()
		return p.object(func(string) error { return p.skip(depth + 1) })
	case '[':
		p.unread()
		return p.array("", func() error { return p.skip(depth + 1) })
	case 't':
		return p.word("rue")
	case 'f':
		return p.word("alse")
	case 'n':
		return p.word("ull")
	}
	return p.number(c)
}

func (p *parser) word(rest string) error {
	for i := range len(rest) {
		c, err := p.next()
		if err != nil {
			return err
		}
		if c != rest[i] {
			return p.broken()
		}
	}
	return nil
}

// number reads a number that begins with c, as JSON writes them.
func (p *parser) number(c byte) error {
	var err error
	digits := func() error {
		if c < '0' || c > '9' {
			return p.broken()
		}
		for err == nil && c >= '0' && c <= '9' {
			c, err = p.next()
		}
		return err
	}
	if c == '-' {
		if c, err = p.next(); err != nil {
			return err
		}
	}
	if c == '0' {
		c, err = p.next()
	} else {
		err = digits()
	}
	if err == nil && c == '.' {
		if c, err = p.next(); err == nil {
			err = digits()
		}
	}
	if err == nil && (c == 'e' || c == 'E') {
		if c, err = p.next(); err == nil && (c == '+' || c == '-') {
			c, err = p.next()
		}
		if err == nil {
			err = digits()
		}
	}
	if err == nil {
		p.unread()
	}
	return err
}

// text reads the rest of a string of at most limit bytes.
func (p *parser) text(limit int) (string, error) {
	var b []byte
	for {
		c, err := p.next()
		if err != nil {
			return "", err
		}
		switch {
		case c == '"':
			if !utf8.Valid(b) {
				return "", p.refuse(BadJSON, "the request is not UTF-8")
			}
			return string(b), nil
		case c < 0x20:
			return "", p.broken()
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, c)
		}
		if len(b) > limit {
			return "", p.refuse(TooLarge, "a name or text is too long")
		}
	}
}

// escape reads what follows a backslash. Half a surrogate pair is the
// replacement character; the pairs themselves are of no use here.
func (p *parser) escape() (rune, error) {
	c, err := p.next()
	if err != nil {
		return 0, err
	}
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b', 'f', 'n', 'r', 't':
		return map[byte]rune{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}[c], nil
	case 'u':
		var r rune
		for range 4 {
			c, err := p.next()
			if err != nil {
				return 0, err
			}
			switch {
			case c >= '0' && c <= '9':
				r = r<<4 | rune(c-'0')
			case c|0x20 >= 'a' && c|0x20 <= 'f':
				r = r<<4 | rune(c|0x20-'a'+10)
			default:
				return 0, p.broken()
			}
		}
		return r, nil
	}
	return 0, p.broken()
}

// token gives the next byte that is no white space.
func (p *parser) token() (byte, error) {
	for {
		c, err := p.next()
		if err != nil || c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, err
		}
	}
}

func (p *parser) next() (byte, error) {
	c, err := p.r.ReadByte()
	if err != nil {
		return 0, err
	}
	if p.around++; p.around > maxAround {
		return 0, p.refuse(TooLarge, "too much beside the messages")
	}
	return c, nil
}

func (p *parser) unread() {
	_ = p.r.UnreadByte() // follows a read
	p.around--
}
