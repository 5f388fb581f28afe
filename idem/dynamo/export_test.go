package dynamo

// ItemAttributes are all that an item has besides its key.
var ItemAttributes = itemAttributes
