package main

func (b *bench) concurrent() error { return nil }
func (b *bench) window() error     { return nil }
func (b *bench) search() error     { return nil }
func (b *bench) server() error     { return nil }
func (b *bench) build() error      { return nil }
func (b *bench) tokens() error     { return nil }
