package demo

import "strings"

// nameSets are first and last names that go together, by language.
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

// places are what departments are named after.
var places = split("Oakfield Riverton Brezovica Hohenau Kirkby Lindenau Mirna Nyborg Ostrava Pineridge Quillan " +
	"Rosedale Stonegate Trnava Uddheim Valmont Westbrook Yarrow Zelenac Ashby Birkenau Cedarville Dunmore Elmwood " +
	"Fairhaven Glenrock Harbour Inverlea Jasenice Kestrel")

func split(names string) []string { return strings.Fields(names) }
