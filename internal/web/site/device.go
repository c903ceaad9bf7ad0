package site

import "strings"

// A browser says in its User-Agent what it is. Most also name those that came before
// them, so the first of each list that is found is meant.
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

// deviceOf returns the names of the browser and the system that a User-Agent tells, as
// "Firefox, Windows", so that people recognize their own. It is empty if that tells neither.
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
