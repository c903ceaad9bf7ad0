package demo

import "strings"

// peoples are the names that go together.
var peoples = []struct{ first, last []string }{
	{list("Ana Ivan Čedomir Đurđica Željko Šime Mirjana Luka Petra Ante Božena Hrvoje Nikolina Zvonimir Jasna Tomislav"),
		list("Čović Horvat Đurić Žanić Šimić Babić Kovačević Perić Marušić Vuković Grgić Tomašević Ćosić Blažević Radić Lovrić")},
	{list("Jürgen Käthe Günther Sören Heike Björn Lieselotte Götz Anneliese Matthias Ulrike Friedrich Bärbel Wolfgang"),
		list("Müller Weiß Großmann Schröder Jäger Köhler Strauß Böhm Krämer Vogt Hübner Lindemann Preuß Zöllner")},
	{list("Łukasz Małgorzata Świętosława Paweł Żaneta Michał Agnieszka Grażyna Błażej Zdzisław Kacper Jagoda"),
		list("Wałęsa Kowalczyk Dąbrowski Wójcik Źródło Grzegorczyk Łysiak Mazur Piątek Śliwa Zając Sikora")},
	{list("Søren Åse Øyvind Ingrid Bjørn Astrid Håkon Liv Jørgen Kirsten Magnus Solveig"),
		list("Ørsted Ågård Sørensen Bakken Næss Lindström Øvergård Halvorsen Møller Strand Dahl Bråten")},
	{list("Þór Guðrún Sigríður Ólafur Æsa Hjörtur Ragnheiður Einar Ásta Snorri"),
		list("Þorsteinsson Guðmundsdóttir Jónsson Sigurðardóttir Ægisson Halldórsson Björnsdóttir Eiríksson")},
	{list("Γιώργος Ελένη Σωτήρης Κατερίνα Νίκος Μαρία Σπύρος Ιωάννα Θανάσης Χρυσούλα"),
		list("Παπαδόπουλος Γεωργίου Νικολάου Σταύρου Καραγιάννης Οικονόμου Δημητρίου Μακρής")},
	{list("Олена Андрій Ірина Сергій Наталія Ёлкин Дмитро Оксана Євген Ґалина"),
		list("Шевченко Коваленко Бондар Ткачук Мельник Їжак Гриценко Савчук Лисенко Поліщук")},
	{list("İbrahim Ayşe Işıl Çağlar Gülşen Ömer Şule Oğuz Zeynep Hakan"),
		list("Yılmaz Çelik Şahin Öztürk Aydın Güneş Kılıç Doğan Arslan Işık")},
	{list("Nguyễn Thị Trần Minh Hương Đức Phượng Quỳnh Hải Ánh"),
		list("Đặng Phạm Lê Hoàng Vũ Bùi Đỗ Hồ Ngô Dương")},
	{list("محمد فاطمة يوسف ليلى حسن مريم خالد سلمى"), list("الحداد النجار المصري الخطيب العلي السعيد القاسم الأسعد")},
	{list("דוד שרה יעקב רחל משה נועה אבי תמר"), list("כהן לוי מזרחי פרץ ביטון אברהם פרידמן שפירא")},
	{list("健太 美咲 翔 陽子 大輔 さくら 拓海 由美"), list("佐藤 鈴木 高橋 田中 渡辺 伊藤 山本 中村")},
	{list("민준 서연 지훈 하은 도윤 수아 예준 지우"), list("김 이 박 최 정 강 조 윤")},
	{list("გიორგი ნინო ლევან მარიამ ირაკლი თამარ"), list("ბერიძე კაპანაძე გელაშვილი მაისურაძე ლომიძე ჯაფარიძე")},
	{list("José Núria Iñaki María Ángel Begoña Joaquín Concepción Andrés Pilar"),
		list("García Muñoz Peña Rodríguez Ibáñez Núñez Gutiérrez Sáenz Ordóñez Cañas")},
	{list("François Zoé Anaïs Benoît Hélène Loïc Gaëlle Théo Noël Cécile"),
		list("Lefèvre Bœuf Garçon Hébert Daniélou Côté Marçais Noël Dupré Desjardins")},
	{list("James Mary Patrick Siobhán Owen Grace Thomas Ruth Samuel Alice Henry Joan"),
		list("O'Brien Smith-Jones McAllister Walker Turner Hughes Baker Fletcher Mason Carter Doyle Reid")},
}

// places give departments their names.
var places = list("Oakfield Riverton Brezovica Hohenau Kirkby Lindenau Mirna Nyborg Ostrava Pineridge Quillan " +
	"Rosedale Stonegate Trnava Uddheim Valmont Westbrook Yarrow Zelenac Ashby Birkenau Cedarville Dunmore Elmwood " +
	"Fairhaven Glenrock Harbour Inverlea Jasenice Kestrel")

func list(names string) []string { return strings.Fields(names) }
