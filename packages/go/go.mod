module payhook

go 1.24
