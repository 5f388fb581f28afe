package expression

import (
	"slices"
	"strings"
	"unicode/utf8"
)

type tokenKind int

const (
	end        tokenKind = iota
	word                 // keyword, function or attribute name
	namePlace            // #name
	valuePlace           // :value
	integer              // digits of an index
	symbol               // operator or punctuation
)

type token struct {
	kind tokenKind
	text string
	at   int // offset in the expression
}

// is reports whether the token is the symbol, or the keyword in any case.
func (t token) is(text string) bool {
	return t.kind == symbol && t.text == text || t.kind == word && strings.EqualFold(t.text, text)
}

// isKeyword reports whether a token is a keyword of the language.
func isKeyword(t token) bool {
	return slices.ContainsFunc(
		[]string{"AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE"}, t.is)
}

// lexer splits an expression into tokens.
type lexer struct {
	text string
	at   int
}

// next returns the next token. ok is false if no token begins so.
func (l *lexer) next() (t token, ok bool) {
	for l.at < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.at]) >= 0 {
		l.at++
	}
	if l.at == len(l.text) {
		return token{kind: end, text: "<EOF>", at: l.at}, true
	}
	kind, n := scan(l.text[l.at:])
	t = token{kind: kind, text: l.text[l.at : l.at+n], at: l.at}
	l.at += n
	return t, kind != end
}

// scan returns the kind and length of the token at the start of s. The kind is
// end if there is none.
func scan(s string) (kind tokenKind, length int) {
	switch c := s[0]; {
	case isLetter(c):
		return word, span(s, isNamePart)
	case isDigit(c):
		return integer, span(s, isDigit)
	case c == '#' || c == ':':
		n := 1 + span(s[1:], isNamePart)
		switch {
		case n == 1:
			return end, 1
		case c == '#':
			return namePlace, n
		}
		return valuePlace, n
	case strings.HasPrefix(s, "<=") || strings.HasPrefix(s, ">=") || strings.HasPrefix(s, "<>"):
		return symbol, 2
	case strings.IndexByte("=<>()[],.+-", c) >= 0:
		return symbol, 1
	}
	_, n := utf8.DecodeRuneInString(s)
	return end, n
}

func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNamePart(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }
