package attribute

// The bytes that DynamoDB needs to store an item decide where a page of a query
// or scan ends. They are not documented. The numbers here are those that
// dynalite has found by measuring where pages of the real service end.
const (
	storedName       = 1 // of an attribute, whatever its length
	storedItem       = 2
	storedChunk      = 3072 // an item has one more header for each of these
	storedChunkExtra = 18   // of a header, before a copy of the sort key
	shortText        = 128
	mediumText       = 16384
)

// StoredSize returns the bytes of an item as they count for the end of a page.
// sortKey is the name of the sort key, or empty.
func StoredSize(i Item, sortKey string) int {
	size, key := 0, 0
	for name, v := range i {
		if name == sortKey {
			key = v.size()
			continue
		}
		size += storedName + storedSize(v)
	}
	return storedItem + size + (1+(1+size)/storedChunk)*(storedChunkExtra+key)
}

func storedSize(v Value) int {
	switch v := v.(type) {
	case String:
		switch n := len(v); {
		case n < shortText:
			return n + 1
		case n < mediumText:
			return n + 2
		default:
			return n + 3
		}
	case Binary, Number:
		return v.size() + 1
	case Set:
		return v.size() + v.Len() + 1
	case Null:
		return 0
	}
	return v.size()
}
