package acceptance

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firefighter-records/firefighters/internal/data/store"
	"github.com/firefighter-records/firefighters/internal/people/demo"
	"github.com/firefighter-records/firefighters/internal/people/record"
)

// invented creates a database of invented people and a key of the department A. The departments are
// called Station 1, Station 2 and so on.
func invented(t *testing.T, departments, people int) string {
	t.Helper()
	db := filepath.Join(t.TempDir(), "x.db")
	s := openAt(t, db, time.Now)
	var all []store.Department
	for number, size := range demo.Sizes(departments, people) {
		department := store.Department{Name: stationName(number), People: make([]record.Fields, size)}
		for i := range department.People {
			department.People[i] = mixedPerson(number, i)
		}
		all = append(all, department)
	}
	must(t, s.AddDepartments(all))
	storeKey(t, s, time.Time{})
	must(t, s.Close())
	return db
}

// stationName returns the name of a department of invented, numbered from 0.
func stationName(number int) string { return fmt.Sprint("Station ", number+1) }

// startInvented starts a service with a department of invented people, and a key for it.
func startInvented(t *testing.T, people int) *testService {
	t.Helper()
	s := startOn(t, invented(t, 1, people))
	s.key = newKey(t, s.db, stationName(0), "--scope", "admin")
	return s
}

// mixedPerson returns a person unlike those of demo: a name in one of many scripts, a phone number in
// one of many forms, sometimes a shared e-mail address, and sometimes without a field. The same numbers
// always yield the same person.
func mixedPerson(department, number int) record.Fields {
	r := rand.New(rand.NewPCG(uint64(department), uint64(number)))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	names := nameSets[r.IntN(len(nameSets))]
	f := record.Fields{FirstName: pick(names.first), LastName: pick(names.last)}
	if r.IntN(12) == 0 {
		f.FirstName += " " + pick(names.first)
	}
	if r.IntN(10) > 0 {
		f.PhoneNumber = fmt.Sprintf(pick(phoneForms), 91+r.IntN(9), r.IntN(1000), r.IntN(10000))
	}
	switch r.IntN(5) {
	case 0:
	case 1:
		f.Email = fmt.Sprintf("station%d.%d@example.org", r.IntN(5)+1, department)
	default:
		f.Email = fmt.Sprintf("%d@example.com", r.IntN(1_000_000))
	}
	if r.IntN(8) > 0 {
		f.DateOfBirth = fmt.Sprintf("%d-%02d-%02d", 1955+r.IntN(52), 1+r.IntN(12), 1+r.IntN(28))
	}
	return f
}

var phoneForms = []string{
	"0%d %03d %04d", "0%d/%03d-%04d", "(0%d) %03d-%04d", "+385 %d %03d %04d",
	"00385%d%03d%04d", "0%d%03d%04d", "0%d-%03d-%04d", "+385 (0)%d %03d %04d",
}

// nameSets pairs first and last names of the same language.
var nameSets = []struct{ first, last []string }{
	{strings.Fields("Ana Ivan Čedomir Đurđica Željko Šime Mirjana Luka Petra Ante Božena Hrvoje Nikolina Zvonimir Jasna Tomislav"),
		strings.Fields("Čović Horvat Đurić Žanić Šimić Babić Kovačević Perić Marušić Vuković Grgić Tomašević Ćosić Blažević Radić Lovrić")},
	{strings.Fields("Jürgen Käthe Günther Sören Heike Björn Lieselotte Götz Anneliese Matthias Ulrike Friedrich Bärbel Wolfgang"),
		strings.Fields("Müller Weiß Großmann Schröder Jäger Köhler Strauß Böhm Krämer Vogt Hübner Lindemann Preuß Zöllner")},
	{strings.Fields("Łukasz Małgorzata Świętosława Paweł Żaneta Michał Agnieszka Grażyna Błażej Zdzisław Kacper Jagoda"),
		strings.Fields("Wałęsa Kowalczyk Dąbrowski Wójcik Źródło Grzegorczyk Łysiak Mazur Piątek Śliwa Zając Sikora")},
	{strings.Fields("Søren Åse Øyvind Ingrid Bjørn Astrid Håkon Liv Jørgen Kirsten Magnus Solveig"),
		strings.Fields("Ørsted Ågård Sørensen Bakken Næss Lindström Øvergård Halvorsen Møller Strand Dahl Bråten")},
	{strings.Fields("Þór Guðrún Sigríður Ólafur Æsa Hjörtur Ragnheiður Einar Ásta Snorri"),
		strings.Fields("Þorsteinsson Guðmundsdóttir Jónsson Sigurðardóttir Ægisson Halldórsson Björnsdóttir Eiríksson")},
	{strings.Fields("Γιώργος Ελένη Σωτήρης Κατερίνα Νίκος Μαρία Σπύρος Ιωάννα Θανάσης Χρυσούλα"),
		strings.Fields("Παπαδόπουλος Γεωργίου Νικολάου Σταύρου Καραγιάννης Οικονόμου Δημητρίου Μακρής")},
	{strings.Fields("Олена Андрій Ірина Сергій Наталія Ёлкин Дмитро Оксана Євген Ґалина"),
		strings.Fields("Шевченко Коваленко Бондар Ткачук Мельник Їжак Гриценко Савчук Лисенко Поліщук")},
	{strings.Fields("İbrahim Ayşe Işıl Çağlar Gülşen Ömer Şule Oğuz Zeynep Hakan"),
		strings.Fields("Yılmaz Çelik Şahin Öztürk Aydın Güneş Kılıç Doğan Arslan Işık")},
	{strings.Fields("Nguyễn Thị Trần Minh Hương Đức Phượng Quỳnh Hải Ánh"),
		strings.Fields("Đặng Phạm Lê Hoàng Vũ Bùi Đỗ Hồ Ngô Dương")},
	{strings.Fields("محمد فاطمة يوسف ليلى حسن مريم خالد سلمى"), strings.Fields("الحداد النجار المصري الخطيب العلي السعيد القاسم الأسعد")},
	{strings.Fields("דוד שרה יעקב רחל משה נועה אבי תמר"), strings.Fields("כהן לוי מזרחי פרץ ביטון אברהם פרידמן שפירא")},
	{strings.Fields("健太 美咲 翔 陽子 大輔 さくら 拓海 由美"), strings.Fields("佐藤 鈴木 高橋 田中 渡辺 伊藤 山本 中村")},
	{strings.Fields("민준 서연 지훈 하은 도윤 수아 예준 지우"), strings.Fields("김 이 박 최 정 강 조 윤")},
	{strings.Fields("გიორგი ნინო ლევან მარიამ ირაკლი თამარ"), strings.Fields("ბერიძე კაპანაძე გელაშვილი მაისურაძე ლომიძე ჯაფარიძე")},
	{strings.Fields("José Núria Iñaki María Ángel Begoña Joaquín Concepción Andrés Pilar"),
		strings.Fields("García Muñoz Peña Rodríguez Ibáñez Núñez Gutiérrez Sáenz Ordóñez Cañas")},
	{strings.Fields("François Zoé Anaïs Benoît Hélène Loïc Gaëlle Théo Noël Cécile"),
		strings.Fields("Lefèvre Bœuf Garçon Hébert Daniélou Côté Marçais Noël Dupré Desjardins")},
	{strings.Fields("James Mary Patrick Siobhán Owen Grace Thomas Ruth Samuel Alice Henry Joan"),
		strings.Fields("O'Brien Smith-Jones McAllister Walker Turner Hughes Baker Fletcher Mason Carter Doyle Reid")},
}
