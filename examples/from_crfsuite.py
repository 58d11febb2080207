"""Features as for sklearn-crfsuite: a list of dicts per sentence. Nothing else needs to change."""

import sidelight as sl


def word_features(sentence: list[str], i: int) -> dict[str, object]:
    word = sentence[i]
    features: dict[str, object] = {"bias": 1.0, "word": word.lower(), "suffix": word[-3:], "title": word.istitle()}
    features["before"] = sentence[i - 1].lower() if i else "<s>"
    return features


sentences = [["Lights", "on", "in", "Oslo"], ["Lights", "off", "in", "Rome"], ["Oslo", "sleeps"], ["Rome", "wakes"]]
labels = [["O", "O", "O", "B-LOC"], ["O", "O", "O", "B-LOC"], ["B-LOC", "O"], ["B-LOC", "O"]]
X = [[word_features(sentence, i) for i in range(len(sentence))] for sentence in sentences]

tagger = sl.Tagger(learner="crf").fit(X, labels)
print(tagger.predict(X[:1]))
print(sl.evaluate(labels, tagger.predict(X)))
