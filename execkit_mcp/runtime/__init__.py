"""Where the pieces meet: sessions, the gate, and the data path as one function."""
