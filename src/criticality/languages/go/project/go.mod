module {{ name }}

go 1.23
