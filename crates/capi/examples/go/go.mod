module sealstone-example

go 1.21
