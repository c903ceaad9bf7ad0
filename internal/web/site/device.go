package site

import "strings"

// Marks in a User-Agent header and the names they stand for. Most browsers also name older
// browsers, so the first match in each list counts.
var (
	browsers = [][2]string{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Vivaldi/", "Vivaldi"},
		{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	}
	systems = [][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"},
		{"Windows", "Windows"}, {"Macintosh", "macOS"}, {"Linux", "Linux"}, {"X11", "Unix"},
	}
)

// deviceOf returns the browser and the operating system in a User-Agent header, like
// "Firefox, Windows". The result is empty if neither is known.
func deviceOf(userAgent string) string {
	var names []string
	for _, list := range [][][2]string{browsers, systems} {
		for _, mark := range list {
			if strings.Contains(userAgent, mark[0]) {
				names = append(names, mark[1])
				break
			}
		}
	}
	return strings.Join(names, ", ")
}
