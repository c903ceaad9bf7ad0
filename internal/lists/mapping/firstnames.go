package mapping

import (
	"slices"
	"strings"
	"sync"

	"github.com/firefighter-records/firefighters/internal/lists/sheet"
	"github.com/firefighter-records/firefighters/internal/people/alike"
	"github.com/firefighter-records/firefighters/internal/text/fold"
)

// firstNames are common first names, folded, that are rarely last names. They show the order of the
// names in a column.
var firstNames = sync.OnceValue(func() map[string]bool {
	return words(`alexander andrea andreas angelika anna anton barbara benedikt bernd bernhard birgit brigitte christa christian
		christine christoph christopher claudia daniel daniela dieter dominik doris elfriede elisabeth elke emma erich erika erwin eva
		fabian felix ferdinand florian franziska friedrich gabriele georg gerald gerhard gertrude gottfried gunter hannah hannes hans
		harald heike heinz helga helmut herbert hermann hildegard horst hubert ingrid jakob jan jennifer jens joachim johann johanna
		johannes jonas josef josefine julia julian jurgen jutta karin karl karoline katharina katrin kevin klaus konrad kurt laura lea
		lena leopold lisa luisa lukas manfred manuel manuela margarete maria marion markus marlene martina matthias max maximilian
		melanie michael michaela monika nadine nicole nina norbert oliver otto patrick patrizia paul paula petra philipp rainer reinhard
		renate rene roland rosa rudolf rupert sabine sandra sarah sebastian sigrid silke silvia simone sophie stefan stefanie susanne
		sven theresa tim tobias ulrich ulrike ursula uwe valentina vanessa verena veronika viktoria walter waltraud werner wilhelm
		wolfgang yvonne
		alain alexandre amelie anais antoine audrey aurelie benoit brigitte camille catherine cedric celine chantal charlotte chloe
		christelle claire clement corinne damien delphine denise didier dominique elodie emilie emmanuel eric etienne fabien fabrice
		florence francois francoise frederic genevieve gerard guillaume helene herve isabelle jacqueline jacques jean jeanne jerome
		jocelyne joelle josephine julie julien juliette karine laetitia lucie ludovic luc manon marc margaux marie marine mathieu
		mathilde maxime melissa michel michele mickael monique nathalie nicolas noemie odile olivier pascal patrice philippe pierre
		raphael romain sebastien severine solene sophie stephane stephanie suzanne sylvain sylvie thibault thierry valerie veronique
		virginie xavier yann yves zoe
		adriana agustin alberto alejandra alejandro alfredo alicia alvaro ana angeles antonio beatriz camila carlos carmen carolina
		catalina cecilia claudio concepcion consuelo cristian cristina diego dolores eduardo elena emilio enrique ernesto esteban
		eugenia fernanda fernando francisca francisco gabriela gloria gonzalo guillermo gustavo hector ignacio ines irene isabel javier
		jesus joaquin jorge jose josefa juan juana julio lorena lucia luis luisa magdalena manuela marcela marcelo marcos mercedes
		miguel monica natalia nuria oscar pablo paloma patricia pedro pilar rafael ramon raquel raul ricardo roberto rocio rodrigo
		rosario ruben sergio silvia sofia soledad susana teresa tomas veronica vicente victor victoria
		alen ana ante antea anto antonija barbara bozidar branka branko bruno damir danijel danijela darija dario darko davor dejan denis
		domagoj dragan drago dragica dragutin drazen dubravka dubravko dusan edin filip goran gordana hrvoje igor ines iva ivan ivana
		ivica ivo ivona jadranka janez jasmina jasna jelena josip josipa jure jurica katarina katica kresimir kristijan kristina
		ksenija lana lidija ljiljana ljubica lovro luka maja maja marica marija marijan marijana marin marina marinko mario marko
		marta mate matej mateja matija mato mia milan mile milena miljenko miroslav mladen mirjana nada natasa neven nevenka nikola
		nikolina patrik pero petar petra ratko renata roko sanja sandra sasa silvija sime sinisa slavica slavko snjezana stipe stjepan
		suzana tamara tanja tatjana tea tihana tihomir tomislav tomo toni valentina vanja vedran vesna viktor vinko visnja vjekoslav
		vlado vlatka zdenka zdenko zdravko zeljka zeljko zlatko zoran zrinka zvonimir zvonko ziga spela tjasa urska blaz bostjan
		amanda amy andrew angela anthony ashley brandon brian carol charles christina cynthia deborah debra donald donna dorothy edward
		elizabeth emily eric gary gregory heather jack jacob janet jason jeffrey jeremy jessica john jonathan joseph joshua karen
		katherine kathleen kenneth kimberly larry linda margaret mark mary matthew melissa nancy nicholas pamela rachel raymond rebecca
		richard ronald ryan samantha samuel sandra sharon shirley stephen steven susan timothy tyler virginia william zachary
		alessandra alessandro alessia andrea anita antonella arianna carla chiara cristiano davide domenico elisa enrico ettore
		fabio federica federico filippo francesca francesco gabriele giacomo gianluca giorgia giorgio giovanna giovanni giulia giulio
		giuseppe giuseppina ilaria jacopo lorenzo luca luigi marco massimo matteo michela michele mirko niccolo nicola paola paolo
		pietro raffaele riccardo salvatore sara serena simona stefania stefano tommaso vincenzo
		adam agnieszka aleksandra andrzej barbara beata bogdan boguslaw bozena czeslaw danuta dariusz dorota elzbieta ewa
		grazyna grzegorz halina henryk irena iwona jacek jadwiga janina janusz jaroslaw jerzy joanna jolanta jozef justyna kamil
		katarzyna kazimierz krystyna krzysztof leszek lukasz maciej malgorzata marcin marek mariusz marzena mateusz michal miroslaw
		monika pawel piotr przemyslaw rafal robert ryszard slawomir stanislaw stanislawa tadeusz tomasz urszula wieslaw wieslawa
		wojciech zbigniew zdzislaw zofia
		agnes aniko attila balazs bela bence csaba edit endre erzsebet eszter ferenc gabor geza gergely gyorgy gyula ildiko
		imre istvan janos jozsef judit kalman kati krisztina lajos laszlo levente magdolna mihaly miklos orsolya peter reka roland
		sandor szabolcs szilvia tibor timea zoltan zsofia zsolt zsuzsanna
		alena bohumil dagmar eliska frantisek hana ivana jakub jana jaroslav jiri jitka josef ladislav lenka libuse lubomir lucie
		ludmila marketa milos miloslav ondrej otakar pavel pavla radek stanislav stepan sarka tereza vaclav vera vladimir vlasta vojtech
		zdena zdenek zuzana
		ann anne beth bill bob brad cathy cindy dan dave debbie donna ed eileen fred greg jane jeff jill jim joe judy kate kathy
		katie keith ken kyle lisa liz lori matt megan mike nick pam pat peggy phil rick ron sally sean steve stuart sue terry
		tina tom tony tracy wendy
		anneke bart bram cornelis daan dirk femke gerrit hendrik ingeborg jaap jeroen joost joris kees koen lieke maarten marieke
		marijke marloes mieke niels pieter pim ruben ruud sander sanne saskia sjoerd theo tijs wim wouter`)
})

// isLastFirst reports whether first names come last in a column of full names: in at least two names
// without a comma, in a third of them, in more than have one, and in five times as many as those in
// which they come first.
func isLastFirst(t *sheet.Table, at int) bool {
	all, first, last, commas := 0, 0, 0, 0
	for _, row := range t.Rows[:min(len(t.Rows), enoughNames)] {
		text, _ := (&names{ranks: true}).withoutRank(row.Cell(at).Text)
		if strings.Contains(text, ",") {
			commas++
			continue
		}
		if text == "" || len(text) > shownName {
			continue
		}
		name := slices.DeleteFunc(alike.Words(alike.WithoutRemarks(text, 2)), func(w alike.Word) bool { return w.Title != alike.NoTitle })
		if len(name) < 2 {
			continue
		}
		all++
		if isFirstName(name[0].Text) {
			first++
		}
		if isFirstName(name[len(name)-1].Text) {
			last++
		}
	}
	return last > 1 && last*3 >= all && last > commas && last >= 5*first
}

// enoughNames is the number of rows that show the order of names.
const enoughNames = 1000

// isFirstName reports whether a word, or its part before a hyphen, is a common first name.
func isFirstName(word string) bool {
	name, _, _ := strings.Cut(word, "-")
	return len(name) <= maxHeader && firstNames()[fold.String(name)]
}
