package fold

import "testing"

func BenchmarkString(b *testing.B) {
	for _, s := range []string{"Ana Maria", "Ana Čović", "王小明"} {
		b.Run(s, func(b *testing.B) {
			for b.Loop() {
				String(s)
			}
		})
	}
}
