// Package demo generates firefighters for demonstrations and benchmarks: names in many scripts,
// phone numbers in many formats, shared email addresses and missing fields. The same numbers always
// yield the same person.
package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/firefighter-records/firefighters/internal/people/record"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// Sizes distributes people among departments and returns the size of each. It starts with a few
// large departments; the rest are about equal. With 1,200,000 people in 30,000 departments, the
// largest has about 17,000 people and most have 40.
func Sizes(departments, people int) []int {
	weight := func(i int) float64 {
		return 1 + float64(departments)/70/math.Pow(float64(i+1), 1.5)
	}
	var total float64
	for i := range departments {
		total += weight(i)
	}
	sizes := make([]int, departments)
	var sum float64
	for i, placed := 0, 0; i < departments; i++ {
		sum += weight(i)
		sizes[i] = int(math.Round(sum/total*float64(people))) - placed
		placed += sizes[i]
	}
	return sizes
}

// Department returns the unique name of a department, numbered from 0.
func Department(number int) string {
	place := places[number%len(places)]
	if n := number / len(places); n > 0 {
		return fmt.Sprintf("%s Fire Department %d", place, n+1)
	}
	return place + " Fire Department"
}

// Person returns a member of a department, both numbered from 0. The fields pass
// record.Fields.Normalize.
func Person(department, number int) record.Fields {
	r := rand.New(rand.NewPCG(uint64(department), uint64(number)))
	names := nameSets[r.IntN(len(nameSets))]
	f := record.Fields{
		FirstName: pick(r, names.first),
		LastName:  pick(r, names.last),
	}
	if r.IntN(12) == 0 {
		f.FirstName += " " + pick(r, names.first)
	}
	if r.IntN(10) > 0 {
		f.PhoneNumber = phoneNumber(r)
	}
	if r.IntN(5) > 0 {
		f.Email = email(r, department, f)
	}
	if r.IntN(8) > 0 {
		f.DateOfBirth = fmt.Sprintf("%d-%02d-%02d", 1955+r.IntN(52), 1+r.IntN(12), 1+r.IntN(28))
	}
	for d, value := range f.Each {
		if d.Demo != nil && r.IntN(8) > 0 {
			*value = pick(r, d.Demo)
		}
	}
	return f
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// phoneNumber returns a phone number in a random format.
func phoneNumber(r *rand.Rand) string {
	area, first, last := 91+r.IntN(9), r.IntN(1000), r.IntN(10000)
	spelling := pick(r, []string{
		"0%d %03d %04d", "0%d/%03d-%04d", "(0%d) %03d-%04d", "+385 %d %03d %04d",
		"00385%d%03d%04d", "0%d%03d%04d", "0%d-%03d-%04d", "+385 (0)%d %03d %04d",
	})
	return fmt.Sprintf(spelling, area, first, last)
}

// email returns a personal address, or sometimes one shared by a station.
func email(r *rand.Rand, department int, f record.Fields) string {
	local := latin(f.FirstName) + "." + latin(f.LastName)
	if local == "." || r.IntN(8) == 0 {
		return fmt.Sprintf("station%d.%d@example.org", r.IntN(5)+1, department)
	}
	return strings.Trim(local, ".") + fmt.Sprintf("%d@example.com", r.IntN(1000))
}

// latin returns the letters a to z of a folded name.
func latin(name string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r
		}
		return -1
	}, fold.String(name))
}

// nameSets pairs first and last names of the same language.
var nameSets = []struct{ first, last []string }{
	{split("Ana Ivan Čedomir Đurđica Željko Šime Mirjana Luka Petra Ante Božena Hrvoje Nikolina Zvonimir Jasna Tomislav"),
		split("Čović Horvat Đurić Žanić Šimić Babić Kovačević Perić Marušić Vuković Grgić Tomašević Ćosić Blažević Radić Lovrić")},
	{split("Jürgen Käthe Günther Sören Heike Björn Lieselotte Götz Anneliese Matthias Ulrike Friedrich Bärbel Wolfgang"),
		split("Müller Weiß Großmann Schröder Jäger Köhler Strauß Böhm Krämer Vogt Hübner Lindemann Preuß Zöllner")},
	{split("Łukasz Małgorzata Świętosława Paweł Żaneta Michał Agnieszka Grażyna Błażej Zdzisław Kacper Jagoda"),
		split("Wałęsa Kowalczyk Dąbrowski Wójcik Źródło Grzegorczyk Łysiak Mazur Piątek Śliwa Zając Sikora")},
	{split("Søren Åse Øyvind Ingrid Bjørn Astrid Håkon Liv Jørgen Kirsten Magnus Solveig"),
		split("Ørsted Ågård Sørensen Bakken Næss Lindström Øvergård Halvorsen Møller Strand Dahl Bråten")},
	{split("Þór Guðrún Sigríður Ólafur Æsa Hjörtur Ragnheiður Einar Ásta Snorri"),
		split("Þorsteinsson Guðmundsdóttir Jónsson Sigurðardóttir Ægisson Halldórsson Björnsdóttir Eiríksson")},
	{split("Γιώργος Ελένη Σωτήρης Κατερίνα Νίκος Μαρία Σπύρος Ιωάννα Θανάσης Χρυσούλα"),
		split("Παπαδόπουλος Γεωργίου Νικολάου Σταύρου Καραγιάννης Οικονόμου Δημητρίου Μακρής")},
	{split("Олена Андрій Ірина Сергій Наталія Ёлкин Дмитро Оксана Євген Ґалина"),
		split("Шевченко Коваленко Бондар Ткачук Мельник Їжак Гриценко Савчук Лисенко Поліщук")},
	{split("İbrahim Ayşe Işıl Çağlar Gülşen Ömer Şule Oğuz Zeynep Hakan"),
		split("Yılmaz Çelik Şahin Öztürk Aydın Güneş Kılıç Doğan Arslan Işık")},
	{split("Nguyễn Thị Trần Minh Hương Đức Phượng Quỳnh Hải Ánh"),
		split("Đặng Phạm Lê Hoàng Vũ Bùi Đỗ Hồ Ngô Dương")},
	{split("محمد فاطمة يوسف ليلى حسن مريم خالد سلمى"), split("الحداد النجار المصري الخطيب العلي السعيد القاسم الأسعد")},
	{split("דוד שרה יעקב רחל משה נועה אבי תמר"), split("כהן לוי מזרחי פרץ ביטון אברהם פרידמן שפירא")},
	{split("健太 美咲 翔 陽子 大輔 さくら 拓海 由美"), split("佐藤 鈴木 高橋 田中 渡辺 伊藤 山本 中村")},
	{split("민준 서연 지훈 하은 도윤 수아 예준 지우"), split("김 이 박 최 정 강 조 윤")},
	{split("გიორგი ნინო ლევან მარიამ ირაკლი თამარ"), split("ბერიძე კაპანაძე გელაშვილი მაისურაძე ლომიძე ჯაფარიძე")},
	{split("José Núria Iñaki María Ángel Begoña Joaquín Concepción Andrés Pilar"),
		split("García Muñoz Peña Rodríguez Ibáñez Núñez Gutiérrez Sáenz Ordóñez Cañas")},
	{split("François Zoé Anaïs Benoît Hélène Loïc Gaëlle Théo Noël Cécile"),
		split("Lefèvre Bœuf Garçon Hébert Daniélou Côté Marçais Noël Dupré Desjardins")},
	{split("James Mary Patrick Siobhán Owen Grace Thomas Ruth Samuel Alice Henry Joan"),
		split("O'Brien Smith-Jones McAllister Walker Turner Hughes Baker Fletcher Mason Carter Doyle Reid")},
}

// places are the names of departments.
var places = split("Oakfield Riverton Brezovica Hohenau Kirkby Lindenau Mirna Nyborg Ostrava Pineridge Quillan " +
	"Rosedale Stonegate Trnava Uddheim Valmont Westbrook Yarrow Zelenac Ashby Birkenau Cedarville Dunmore Elmwood " +
	"Fairhaven Glenrock Harbour Inverlea Jasenice Kestrel")

func split(names string) []string { return strings.Fields(names) }
