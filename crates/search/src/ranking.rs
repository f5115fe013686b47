/// How a document is scored. Both give a number from 0 to 1, so that one threshold serves.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[non_exhaustive]
pub enum Ranking {
    /// Weighted term frequency times smoothed inverse document frequency, compared by cosine. The fields of a document are
    /// combined by their maximum.
    TfIdf,
    /// Okapi BM25 over the weighted sum of the fields, divided by the best score that the query could have. The default: it
    /// found more on the labelled set (`docs/search.md`).
    #[default]
    Bm25,
}

/// The weight of a word in the name, in `when_to_use`, in the description and among the tools.
pub(crate) const FIELD_WEIGHTS: [f32; 4] = [3.0, 2.0, 1.0, 0.3];

/// Saturation of a repeated word, and how much the length of a document counts.
const K1: f32 = 1.2;
const B: f32 = 0.4;

impl Ranking {
    /// How rare a term is that `having` of `all` documents have. Smoothed: in a catalogue of one skill its words count.
    pub(crate) fn rarity(self, all: f32, having: f32) -> f32 {
        match self {
            Ranking::TfIdf => ((1.0 + all) / (1.0 + having)).ln() + 1.0,
            Ranking::Bm25 => (1.0 + (all - having + 0.5) / (having + 0.5)).ln(),
        }
    }

    /// What one term of a document weighs, from what each field has of it: `(times, times of the field's commonest term)`.
    pub(crate) fn weight(self, fields: [(f32, f32); 4]) -> f32 {
        let weighted = FIELD_WEIGHTS.iter().zip(fields);
        match self {
            Ranking::TfIdf => {
                weighted.fold(
                    0.0,
                    |most, (weight, (times, commonest))| {
                        if times > 0.0 { f32::max(most, weight * times / commonest) } else { most }
                    },
                )
            }
            Ranking::Bm25 => weighted.map(|(weight, (times, _))| weight * times).sum(),
        }
    }

    /// What the length of a document adds below the line of [`saturated`](Self::saturated).
    pub(crate) fn length_norm(length: f32, average: f32) -> f32 {
        K1 * (1.0 - B + B * length / average)
    }

    /// The share of its best possible score that a term gives under BM25.
    pub(crate) fn saturated(weight: f32, length_norm: f32) -> f32 {
        weight / (weight + length_norm)
    }
}
