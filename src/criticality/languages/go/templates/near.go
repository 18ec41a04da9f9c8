func anyNumber(low, high int) *rapid.Generator[int] {
	choices := []*rapid.Generator[int]{rapid.IntRange(low, high)}
	if from, to := max(low, -20), min(high, 20); from <= to {
		choices = append(choices, rapid.IntRange(from, to))
	}
	near := []int{}
	for _, number := range nearNumbers {
		if low <= number && number <= high {
			near = append(near, number)
		}
	}
	if len(near) > 0 {
		choices = append(choices, rapid.SampledFrom(near))
	}
	return rapid.OneOf(choices...)
}

func anyText(shortest, longest int) *rapid.Generator[string] {
	few := rapid.RuneFrom([]rune("abc01. -"))
	plain := rapid.StringOfN(few, shortest, min(longest, max(shortest, 4)), -1)
	choices := []*rapid.Generator[string]{plain, rapid.StringN(shortest, longest, -1)}
	near := []string{}
	for _, text := range nearTexts {
		if length := utf8.RuneCountInString(text); shortest <= length && length <= longest {
			near = append(near, text)
		}
	}
	if len(near) > 0 {
		choices = append(choices, rapid.SampledFrom(near))
	}
	return rapid.OneOf(choices...)
}
