module github.com/yuin/goldmark

go 1.26.0
