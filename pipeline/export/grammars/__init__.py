"""Action grammars: how an action is written for a model to give it, by the grammar's name."""
