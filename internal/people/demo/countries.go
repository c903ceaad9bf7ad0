package demo

import "strings"

// countries has a country for each language of the page. Names are frequent ones, places are invented.
//
// The phone numbers of the United States (555-0100 to 555-0199 in each area), Germany (Mitteilung
// 148/2021 of the Bundesnetzagentur) and France (decision 2018-0881 of Arcep) are reserved for fiction.
// Croatia and Chile reserve none. In Croatia, no operator has the mobile code 094, and no county the
// area code 045. In Chile, no mobile number has a 0 or 1 after the 9.
var countries = []*Country{
	{
		Language: "en", Code: "US", You: "You",
		department: "%s Volunteer Fire Department",
		places: split(`Cedarbrook Pinehollow Maplecrest Stonegate Elkmeadow Larkspur Foxhollow Millhaven Ridgemont Willowdale
			Ashgrove Birchwood Clearview Dunmore Eastbrook Fairhaven Glenrock Hawthorne Ironwood Juniper`),
		women: split(`Mary Patricia Jennifer Linda Elizabeth Susan Jessica Sarah Karen Lisa Nancy Sandra Ashley Emily Kimberly
			Donna Michelle Carol Amanda Melissa Deborah Rebecca Laura Grace Hannah Megan Rachel Alice Zoë Maria`),
		men: split(`James Robert John Michael David William Richard Thomas Christopher Daniel Matthew Anthony Mark Steven Andrew
			Joshua Kevin Brian George Timothy Edward Jason Ryan Jacob Gary Nicholas Eric Samuel Patrick José`),
		last: split(`Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez Anderson Taylor Thomas Moore Jackson
			Martin Lee Thompson White Harris Clark Lewis Robinson Walker Young Allen King Scott Wright Hill Green Adams Nelson
			Baker Hall Rivera Campbell Mitchell Carter Roberts Turner Phillips Parker Evans Edwards Collins Stewart Morris
			Murphy Cook Rogers Morgan Peterson Cooper Reed Bailey Kelly Howard O'Brien McAllister`),
		mobile: areas(`570 717 610 484 215 267 412 878 814 724 201 203 207 302 304 315 401 410 413 440 443 508 513 518 540 585 603
			607 614 617 631 702 703 716 740 757 802 804 856 860`),
		home: areas(`272 223 445`),
	},
	{
		Language: "de", Code: "DE", You: "„Sie“", // for "von {0}"
		department: "Freiwillige Feuerwehr %s",
		places: split(`Lindenried Birkenthal Erlenbrück Ahornstein Eichhalden Weidenrode Ulmenbach Tannfelde Eschenwinkel
			Haselbrunn Fichtenreuth Rosenhagen Mühlwinkel Steinwerder Moosgrund Kirchwalden Auenstein Falkenrain Rehwinkel
			Storchenau`),
		women: split(`Anna Sabine Monika Heike Petra Ulrike Birgit Käthe Claudia Stefanie Julia Lena Katharina Franziska Jana
			Bärbel Anneliese Lieselotte Susanne Martina Nicole Melanie Sandra Carina Johanna Theresa Miriam Kerstin Marlene Elke`),
		men: split(`Thomas Michael Andreas Stefan Jürgen Günther Björn Sören Matthias Wolfgang Friedrich Florian Lukas Jonas
			Maximilian Tobias Sebastian Markus Christian Rainer Bernd Uwe Dieter Klaus Jörg Holger Götz Niklas Felix Johannes`),
		last: split(`Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Schäfer Koch Bauer Richter Klein
			Wolf Schröder Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange Werner Krause Lehmann Köhler Maier
			Herrmann König Walter Huber Kaiser Fuchs Peters Scholz Möller Weiß Jung Hahn Schubert Vogel Friedrich Keller
			Günther Frank Berger Winkler Roth Beck Lorenz Baumann Franke Böhm Simon Kraus Jäger Groß`),
		mobile: newNumbers("0176 040690xx", "0171 39200xx", "030 23125xxx", "040 66969xxx", "069 90009xxx", "0221 4710xxx"),
		home:   newNumbers("089 99998xxx"),
	},
	{
		Language: "fr", Code: "FR", You: "Vous",
		department: "Sapeurs-pompiers de %s",
		places: split(`Valclair Montbriel Rochevive Bellefond Fontclaire Beaurivel Noirval Villeclose Pontferré Champrosé
			Castelbrun Rivesaine Boisjoli Malvoisin Courtepierre Vaudremy Longpuits Merlebois Tournebise Vertbois`),
		women: split(`Marie Camille Julie Sophie Isabelle Nathalie Céline Aurélie Émilie Hélène Chloé Manon Léa Inès Zoé Anaïs
			Gaëlle Valérie Sandrine Laurence Christine Mathilde Pauline Margaux Clémence Élodie Françoise Delphine Noémie Agathe`),
		men: split(`Pierre Jean Michel Nicolas Julien Thomas François Benoît Loïc Théo Hugo Lucas Antoine Mathieu Sébastien
			Frédéric Christophe Olivier Laurent Stéphane Jérôme Cédric Guillaume Rémi Gaël Éric Vincent Bruno Yves Adrien`),
		last: split(`Martin Bernard Dubois Thomas Robert Richard Petit Durand Leroy Moreau Simon Laurent Lefèvre Michel Garcia
			David Bertrand Roux Vincent Fournier Morel Girard André Mercier Dupont Lambert Bonnet François Martinez Legrand
			Garnier Faure Rousseau Blanc Guérin Muller Henry Roussel Nicolas Perrin Morin Mathieu Clément Gauthier Dumont
			Lopez Fontaine Chevalier Robin Masson Sanchez Gérard Boyer Denis Lemaire Duval Joly Gautier Roche Noël`),
		mobile: newNumbers("06 39 98 xx xx", "01 99 00 xx xx", "02 61 91 xx xx", "03 53 01 xx xx", "05 36 49 xx xx"),
		home:   newNumbers("04 65 71 xx xx"),
	},
	{
		Language: "es", Code: "CL", You: "Usted", twoNames: true,
		department: "Cuerpo de Bomberos de %s",
		places: split(`Maitenal Peumal Quilahue Coihuelén Ralcomán Pehuelco Boldovilla Aromalén Canelillo Huallerío Litrehue
			Lengales Ñirehual Notrohue Ulmehue Rauquemó Tepuhue Mañihue Radalco Pitrahue`),
		women: split(`María Camila Francisca Javiera Catalina Constanza Valentina Fernanda Daniela Carolina Paula Andrea Claudia
			Patricia Marcela Verónica Lorena Ximena Macarena Bárbara Sofía Antonia Isidora Josefa Rocío Pilar Gloria Mónica
			Sandra Begoña`),
		men: split(`José Juan Luis Carlos Jorge Manuel Francisco Cristián Rodrigo Felipe Sebastián Matías Diego Ignacio Vicente
			Benjamín Tomás Joaquín Andrés Pablo Héctor Víctor Óscar Raúl Iván Claudio Mauricio Gonzalo Nicolás Hernán`),
		last: split(`González Muñoz Rojas Díaz Pérez Soto Contreras Silva Martínez Sepúlveda Morales Rodríguez López Fuentes
			Hernández Torres Araya Flores Espinoza Valenzuela Castillo Tapia Reyes Gutiérrez Castro Pizarro Álvarez Vásquez
			Sánchez Fernández Ramírez Carrasco Gómez Cortés Herrera Núñez Jara Vergara Rivera Figueroa Riquelme García Miranda
			Bravo Vera Molina Vega Campos Sandoval Orellana Cárdenas Olivares Alarcón Gallardo Ortiz Garrido Salazar Guzmán
			Henríquez Saavedra`),
		mobile: newNumbers("9 1xxx xxxx"),
		home:   newNumbers("9 0xxx xxxx"),
	},
	{
		Language: "hr", Code: "HR", You: "Vi",
		department: "DVD %s",
		places: split(`Lipovnik Jasenik Hrastina Brezovnik Javornica Kestenovac Vrbovnik Jelovnik Gabrovac Topolnik Ružičevo
			Mirnica Bistrovac Studenik Vedrina Dubravac Potočac Livadnik Sokolnik Orlovnik`),
		women: split(`Ana Marija Ivana Petra Lucija Katarina Mirjana Jasna Nikolina Martina Tea Iva Božena Đurđica Vesna Ljiljana
			Marina Tihana Snježana Željka Dora Lana Matea Kristina Sanja Antonija Josipa Nada Zrinka Višnja`),
		men: split(`Ivan Marko Luka Tomislav Hrvoje Ante Josip Zvonimir Željko Šime Krešimir Dario Mario Goran Davor Stjepan
			Nikola Petar Filip Matej Domagoj Branko Zoran Vedran Mladen Čedomir Boris Antun Karlo Dragutin`),
		last: split(`Horvat Kovačević Babić Marić Jurić Novak Kovačić Vuković Knežević Marković Petrović Matić Tomić Pavlović
			Kovač Božić Blažević Grgić Pavić Radić Perić Filipović Šarić Lovrić Vidović Perković Popović Bošnjak Jukić Barišić
			Čović Šimić Bašić Lončar Mandić Nikolić Ćosić Žanić Đurić Grubišić Tadić Klarić Katić Brkić Vlašić Rukavina Medić
			Galić Ružić Crnković Špoljar Hrgović Cindrić Majstorović Dujmović Lukić Štimac Bilić Rogić Zorić`),
		mobile: newNumbers("094 xxx xxxx"),
		home:   newNumbers("045 xxx xxx"),
	},
}

func split(words string) []string { return strings.Fields(words) }

// areas returns the fictional phone numbers of areas in the United States.
func areas(codes string) numbers {
	ranges := split(codes)
	for i, code := range ranges {
		ranges[i] = "(" + code + ") 555-01xx"
	}
	return newNumbers(ranges...)
}
