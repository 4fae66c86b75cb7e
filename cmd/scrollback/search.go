package main

type searchCmd struct {
	Query        string `arg:"" help:"Words; \"quoted\" ones must occur."`
	Conversation string `help:"Only this conversation." placeholder:"ID"`
	Project      string `help:"Only this project." placeholder:"P"`
	Role         string `help:"Only messages of this role." placeholder:"ROLE"`
	Around       int    `help:"Neighbours on each side." default:"0"`
}
