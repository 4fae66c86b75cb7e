package line

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// kind returns what an error calls a value of a flag's type.
func (v *Value) kind() string {
	t := v.target.Type()
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "int"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "uint"
	case reflect.Float32, reflect.Float64:
		return "float"
	}
	return "string"
}

// set sets a value to what a word says, or adds it to those that are there.
func (v *Value) set(word string) error {
	t := v.target.Type()
	switch t.Kind() {
	case reflect.Slice:
		one := reflect.New(t.Elem()).Elem()
		if err := setWord(one, word); err != nil {
			return err
		}
		v.target.Set(reflect.Append(v.target, one))
		return nil
	case reflect.Map:
		return v.setEntry(word)
	case reflect.Pointer:
		one := reflect.New(t.Elem())
		if err := setWord(one.Elem(), word); err != nil {
			return err
		}
		v.target.Set(one)
		return nil
	}
	return setWord(v.target, word)
}

// setEntry sets the entry of a map that a word names with its value.
func (v *Value) setEntry(word string) error {
	name, text, ok := strings.Cut(word, "=")
	if !ok {
		return fmt.Errorf("expected \"<key>=<value>\" but got %q", word)
	}
	t := v.target.Type()
	key := reflect.New(t.Key()).Elem()
	if setWord(key, name) != nil {
		return fmt.Errorf("invalid map key %q", name)
	}
	value := reflect.New(t.Elem()).Elem()
	if setWord(value, text) != nil {
		return fmt.Errorf("invalid map value %q", text)
	}
	if v.target.IsNil() {
		v.target.Set(reflect.MakeMap(t))
	}
	v.target.SetMapIndex(key, value)
	return nil
}

func setWord(target reflect.Value, word string) error {
	switch target.Kind() {
	case reflect.String:
		target.SetString(word)
	case reflect.Bool:
		switch strings.ToLower(word) {
		case "true", "1", "yes":
			target.SetBool(true)
		case "false", "0", "no":
			target.SetBool(false)
		default:
			return fmt.Errorf("bool value must be true, 1, yes, false, 0 or no but got %q", strings.ToLower(word))
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		bits := target.Type().Bits()
		n, err := strconv.ParseInt(word, 0, bits)
		if err != nil {
			return fmt.Errorf("expected a valid %d bit int but got %q", bits, word)
		}
		target.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		bits := target.Type().Bits()
		n, err := strconv.ParseUint(word, 0, bits)
		if err != nil {
			return fmt.Errorf("expected a valid %d bit uint but got %q", bits, word)
		}
		target.SetUint(n)
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(word, target.Type().Bits())
		if err != nil {
			return fmt.Errorf("expected a float but got %q", word)
		}
		target.SetFloat(f)
	default:
		return fmt.Errorf("no value of type %s can be given", target.Type())
	}
	return nil
}

// setDefaults sets what was not given, of the program and of the commands of a line.
func (l *Line) setDefaults() error {
	for _, n := range l.at {
		for _, v := range n.values() {
			if v.given || !v.HasDefault {
				continue
			}
			words := []string{v.Default}
			if v.IsCumulative() {
				words = splitValues(v.Default, v.separator)
			}
			for _, word := range words {
				if err := v.set(word); err != nil {
					return fmt.Errorf("%s: %w", v.label(), err)
				}
			}
		}
	}
	return nil
}

// splitValues cuts the values of a flag apart. A backslash before a separator makes it a part of a value.
func splitValues(s string, separator rune) []string {
	if separator < 0 {
		return []string{s}
	}
	var out []string
	var one strings.Builder
	escaped := false
	for i, r := range s {
		switch {
		case escaped:
			if r != separator {
				one.WriteByte('\\')
			}
			one.WriteRune(r)
			escaped = false
		case r == '\\' && i < len(s)-1:
			escaped = true
		case r == separator:
			out = append(out, one.String())
			one.Reset()
		default:
			one.WriteRune(r)
		}
	}
	if one.Len() > 0 {
		out = append(out, one.String())
	}
	return out
}

// checkEnum refuses a value that is none of those that it may have.
func (v *Value) checkEnum() error {
	known := strings.Split(v.Enum, ",")
	given := []string{fmt.Sprint(v.target.Interface())}
	if list, ok := v.target.Interface().([]string); ok {
		given = list
	}
	for _, word := range given {
		if slices.Contains(known, word) {
			continue
		}
		quoted := make([]string, len(known))
		for i, k := range known {
			quoted[i] = strconv.Quote(k)
		}
		return fmt.Errorf("%s must be one of %s but got %q", v.label(), strings.Join(quoted, ","), word)
	}
	return nil
}
