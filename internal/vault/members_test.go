package vault

import "testing"

// Two machines remove one each at the same time: neither of their keys is used from then on, for each is known to one
// that was removed.
func TestRemoveAtOnce(t *testing.T) {
	t.Parallel()
	s, ms, _ := calm(t, "a", "b", "c", "d")
	for _, m := range ms {
		m.look()
		m.publish(m.batches(10)...)
	}
	s.meet(ms...)
	for i, m := range ms[:2] {
		m.look()
		if err := m.v.Remove(t.Context(), ms[2+i].name); err != nil {
			t.Fatal(err)
		}
	}
	s.meet(ms[:2]...)
	ms[0].publish(ms[0].batches(10)...)
	s.meet(ms[:2]...)
	ms[1].mustHold(true, ms[0])
	key, ok := ms[0].v.roster.key()
	if !ok || len(key.Without) != 2 {
		t.Errorf("the key is known to one that was removed: without %q", key.Without)
	}
	for _, m := range ms[2:] {
		if m.open() == nil {
			m.look()
			m.read()
		}
		if m.applied[ms[0].made[1]] > 0 {
			t.Errorf("%s reads what was written later", m.name)
		}
	}
}

// Objects below the own id that this store did not leave are somebody else's: they are not removed, and it takes
// another id.
func TestUnknownObjectsBelowOwnID(t *testing.T) {
	t.Parallel()
	s, ms, _ := calm(t, "a")
	a := ms[0]
	a.look()
	a.publish(a.batches(10)...)
	key := dataKey(a.v.writer.id, encodeName(make([]byte, nameBytes)))
	s.views[0].has[key] = make([]byte, classes[0])
	if news := a.look(); !news.Another {
		t.Errorf("%+v", news)
	}
	a.publish(a.batches(10)...)
	if _, ok := s.views[0].has[key]; !ok {
		t.Error("it was removed")
	}
}
