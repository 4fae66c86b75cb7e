package restapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// checker holds the JSON of a request against the schema of its operation.
type checker struct {
	op      string
	schemas huma.Registry
}

// kinds are JSON's types as a person calls them.
var kinds = map[string]i18n.ID{huma.TypeString: i18n.KindText, huma.TypeInteger: i18n.KindWholeNumber,
	huma.TypeNumber:  i18n.KindNumber,
	huma.TypeBoolean: i18n.KindBoolean, huma.TypeArray: i18n.KindList, huma.TypeObject: i18n.KindObject,
	"null": i18n.KindNull}

// jsonType returns the type of a JSON value.
func jsonType(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return huma.TypeString
	case '{':
		return huma.TypeObject
	case '[':
		return huma.TypeArray
	case 't', 'f':
		return huma.TypeBoolean
	case 'n':
		return "null"
	}
	return huma.TypeNumber
}

// checkValue checks the value at a path, valid JSON.
func (c *checker) checkValue(at string, s *huma.Schema, raw json.RawMessage) error {
	if s.Ref != "" {
		s = c.schemas.SchemaFromRef(s.Ref)
	}
	raw = bytes.TrimSpace(raw)
	is := jsonType(raw)
	switch {
	case len(s.OneOf) > 0:
		return c.checkOneOf(at, s, is, raw)
	case s.Type == "" || is == "null" && s.Nullable:
		return nil
	case s.Type == huma.TypeInteger && is == huma.TypeNumber:
		return c.checkWhole(at, raw)
	case s.Type != is:
		return newTypeError(at, kinds[s.Type], is)
	}
	switch is {
	case huma.TypeObject:
		return c.checkObject(at, s, raw)
	case huma.TypeArray:
		return c.checkList(at, s, raw)
	case huma.TypeNumber:
		if n, err := strconv.ParseFloat(string(raw), 64); err != nil || math.IsInf(n, 0) {
			return scrollback.ParamErrorf("restapi", at, i18n.FieldOutOfRange, at)
		}
	}
	return nil
}

func newTypeError(at string, want any, is string) error {
	if at == "" {
		return scrollback.ParamErrorf("restapi", "body", i18n.BodyHasWrongType, want, kinds[is])
	}
	return scrollback.ParamErrorf("restapi", at, i18n.FieldHasWrongType, at, want, kinds[is])
}

func (c *checker) checkWhole(at string, raw json.RawMessage) error {
	if _, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return nil
	}
	if bytes.ContainsAny(raw, ".eE") {
		return scrollback.ParamErrorf("restapi", at, i18n.FieldMustBeWholeNumber, at, raw)
	}
	return scrollback.ParamErrorf("restapi", at, i18n.FieldOutOfRange, at)
}

// checkOneOf checks a value that may have several forms, which differ in their type: in JSON's,
// or in what their field "type" says.
func (c *checker) checkOneOf(at string, s *huma.Schema, is string, raw json.RawMessage) error {
	if s.Discriminator == nil {
		var names scrollback.Sentence
		for i, form := range s.OneOf {
			if form.Type == is {
				return c.checkValue(at, form, raw)
			}
			name := scrollback.NewSentence(kinds[form.Type])
			if i == 0 {
				names = name
				continue
			}
			names = scrollback.NewSentence(i18n.OneOrTheOther, names, name)
		}
		return newTypeError(at, names, is)
	}
	if is != huma.TypeObject {
		return newTypeError(at, kinds[huma.TypeObject], is)
	}
	fields, err := c.listFields(at, raw)
	if err != nil {
		return err
	}
	var name any
	for _, f := range fields {
		if f.name == s.Discriminator.PropertyName {
			if err := json.Unmarshal(f.value, &name); err != nil {
				return scrollback.Wrap(scrollback.Invalid, "restapi", err)
			}
		}
	}
	var known []string
	for _, form := range s.OneOf {
		form = c.schemas.SchemaFromRef(form.Ref)
		of := form.Properties[s.Discriminator.PropertyName].Enum[0]
		if of == name {
			return c.checkObject(at, form, raw)
		}
		known = append(known, fmt.Sprint(of))
	}
	at = fieldPath(at, s.Discriminator.PropertyName)
	text, ok := name.(string)
	if !ok {
		return scrollback.ParamErrorf("restapi", at, i18n.FieldSaysKindOfPart, at, orList(known))
	}
	return scrollback.ParamErrorf("restapi", at, i18n.UnknownPartType, text, orList(known))
}

func orList(names []string) string {
	slices.Sort(names)
	out := names[0]
	for _, n := range names[1 : len(names)-1] {
		out += ", " + n
	}
	return out + " or " + names[len(names)-1]
}

// field is a field of an object.
type field struct {
	name  string
	value json.RawMessage
}

// listFields lists those of an object, each of which may be there once.
func (c *checker) listFields(at string, raw json.RawMessage) ([]field, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, err := dec.Token()
	var out []field
	seen := map[string]bool{}
	for err == nil && dec.More() {
		var name json.Token
		if name, err = dec.Token(); err != nil {
			break
		}
		f := field{name: name.(string)}
		if seen[f.name] {
			return nil, scrollback.ParamErrorf("restapi", fieldPath(at, f.name), i18n.FieldGivenTwice, fieldPath(at, f.name))
		}
		seen[f.name] = true
		err = dec.Decode(&f.value)
		out = append(out, f)
	}
	return out, scrollback.Wrap(scrollback.Invalid, "restapi", err)
}

func (c *checker) checkObject(at string, s *huma.Schema, raw json.RawMessage) error {
	if free, ok := s.AdditionalProperties.(bool); ok && free {
		return nil // kept as it is
	}
	fields, err := c.listFields(at, raw)
	if err != nil {
		return err
	}
	each, _ := s.AdditionalProperties.(*huma.Schema)
	given := map[string]bool{}
	for _, f := range fields {
		given[f.name] = true
		here := fieldPath(at, f.name)
		of := s.Properties[f.name]
		if of == nil {
			of = each
		}
		if of == nil {
			if why := reserved[c.op+"."+here]; why != "" {
				return scrollback.ParamErrorf("restapi", here, why, here)
			}
			return newUnknownError(i18n.KindField, fieldPath(at, ""), f.name, c.shownFields(s))
		}
		if err := c.checkValue(here, of, f.value); err != nil {
			return err
		}
	}
	for _, name := range s.Required {
		if !given[name] {
			return scrollback.ParamErrorf("restapi", fieldPath(at, name), i18n.FieldIsMissing, fieldPath(at, name))
		}
	}
	return nil
}

// shownFields returns the fields of an object but those of old requests.
func (c *checker) shownFields(s *huma.Schema) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(s.Properties)), func(name string) bool { return name == "folding" })
}

func (c *checker) checkList(at string, s *huma.Schema, raw json.RawMessage) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return scrollback.Wrap(scrollback.Invalid, "restapi", err)
	}
	for i, item := range items {
		if err := c.checkValue(fmt.Sprintf("%s[%d]", at, i), s.Items, item); err != nil {
			return err
		}
	}
	return nil
}

// fieldPath returns the path of a field under another.
func fieldPath(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
