package fault

import "encoding/json"

var payloadRules = Table{
	{ID: "payload.decode", Reason: ReasonDecode, Class: ClassPermanent, Match: isType[*DecodeError]()},
	{ID: "payload.validation", Reason: ReasonValidation, Class: ClassPermanent, Match: isType[*ValidationError]()},
	{ID: "json.syntax", Reason: ReasonDecode, Class: ClassPermanent, Match: isType[*json.SyntaxError]()},
	{ID: "json.type", Reason: ReasonDecode, Class: ClassPermanent, Match: isType[*json.UnmarshalTypeError]()},
}
