package oracle

import "reflect"

// deepCopy copies v with everything it points at, so that a field added to a type
// at the root can never be shared by oversight. Nil stays nil.
func deepCopy[T any](v T) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	copyInto(out, reflect.ValueOf(&v).Elem())
	return out.Interface().(T)
}

// cloneAll copies each of vs.
func cloneAll[T any](vs []T) []T {
	out := make([]T, len(vs))
	for i, v := range vs {
		out[i] = deepCopy(v)
	}
	return out
}

func copyInto(dst, src reflect.Value) {
	dst.Set(src)
	switch src.Kind() {
	case reflect.Struct:
		for i := range src.NumField() {
			if dst.Field(i).CanSet() { // a time has fields of its own, which nobody changes
				copyInto(dst.Field(i), src.Field(i))
			}
		}
	case reflect.Slice:
		copySlice(dst, src)
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(src.Type().Elem()))
			copyInto(dst.Elem(), src.Elem())
		}
	case reflect.Interface:
		if !src.IsNil() {
			inner := reflect.New(src.Elem().Type()).Elem()
			copyInto(inner, src.Elem())
			dst.Set(inner)
		}
	case reflect.Map:
		if !src.IsNil() {
			dst.Set(reflect.MakeMapWithSize(src.Type(), src.Len()))
			for at := src.MapRange(); at.Next(); {
				v := reflect.New(src.Type().Elem()).Elem()
				copyInto(v, at.Value())
				dst.SetMapIndex(at.Key(), v)
			}
		}
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		panic("memdriver: a row cannot hold a " + src.Type().String())
	}
}

func copySlice(dst, src reflect.Value) {
	if src.IsNil() {
		return
	}
	dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
	if src.Type().Elem().Kind() == reflect.Uint8 {
		reflect.Copy(dst, src)
		return
	}
	for i := range src.Len() {
		copyInto(dst.Index(i), src.Index(i))
	}
}
