"""Java behind the interface of all languages: records with compact constructors, JUnit 5."""
