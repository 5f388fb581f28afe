package attribute

// Size returns the size that counts towards DynamoDB's limits: the UTF-8 bytes
// of the names and the sizes of the values, by the rules of the developer guide
// ("DynamoDB item sizes and formats").
func (i Item) Size() int { return sizeOfMembers(i) }

func sizeOfMembers(members map[string]Value) int {
	n := 0
	for name, v := range members {
		n += len(name) + v.size()
	}
	return n
}

func (s String) size() int { return len(s) }
func (b Binary) size() int { return len(b) }
func (Bool) size() int     { return 1 }
func (Null) size() int     { return 1 }
func (m Map) size() int    { return collectionOverhead + len(m) + sizeOfMembers(m) }

// A list or map takes 3 bytes, and 1 byte for each element.
const collectionOverhead = 3

func (s Set) size() int {
	n := 0
	for _, v := range s.elements {
		n += v.size()
	}
	return n
}

func (l List) size() int {
	n := collectionOverhead + len(l)
	for _, v := range l {
		n += v.size()
	}
	return n
}

// Extent returns the bytes of a string or binary, or the number of elements of a
// collection. ok is false
// for other types.
func Extent(v Value) (n int, ok bool) {
	switch v := v.(type) {
	case String:
		return len(v), true
	case Binary:
		return len(v), true
	case Set:
		return v.Len(), true
	case List:
		return len(v), true
	case Map:
		return len(v), true
	}
	return 0, false
}
