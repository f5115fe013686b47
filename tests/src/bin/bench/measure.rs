//! Samples of a subject and of its floor, taken in turns.

use std::time::{Duration, Instant};

/// The share of the samples that is run before any is kept.
const WARM_UP: usize = 10;

/// What a subject costs beside its floor.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Measured {
    /// The subject's median by the floor's median.
    pub(crate) ratio: f64,
    /// The lower quartile of the ratios of neighbouring samples.
    pub(crate) low: f64,
    /// The upper quartile.
    pub(crate) high: f64,
    /// Samples of each.
    pub(crate) samples: usize,
}

/// Runs both in turns, after a warm-up of a tenth as many. Which goes first changes with every pair.
pub(crate) fn in_turns(
    samples: usize,
    mut subject: impl FnMut() -> Result<(), String>,
    mut floor: impl FnMut() -> Result<(), String>,
) -> Result<Measured, String> {
    for _ in 0..samples.div_ceil(WARM_UP) {
        subject()?;
        floor()?;
    }
    let mut pairs = Vec::with_capacity(samples);
    for at in 0..samples {
        pairs.push(if at % 2 == 0 {
            let subject = timed(&mut subject)?;
            (subject, timed(&mut floor)?)
        } else {
            let floor = timed(&mut floor)?;
            (timed(&mut subject)?, floor)
        });
    }
    Ok(summary(&pairs))
}

fn timed(run: &mut impl FnMut() -> Result<(), String>) -> Result<Duration, String> {
    let started = Instant::now();
    run()?;
    Ok(started.elapsed())
}

fn summary(pairs: &[(Duration, Duration)]) -> Measured {
    let sorted = |value: &dyn Fn(&(Duration, Duration)) -> f64| {
        let mut values: Vec<f64> = pairs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let subjects = sorted(&|(subject, _)| subject.as_secs_f64());
    let floors = sorted(&|(_, floor)| floor.as_secs_f64());
    let ratios = sorted(&|(subject, floor)| subject.as_secs_f64() / floor.as_secs_f64());
    Measured {
        ratio: part(&subjects, 1, 2) / part(&floors, 1, 2),
        low: part(&ratios, 1, 4),
        high: part(&ratios, 3, 4),
        samples: pairs.len(),
    }
}

/// What ratios come to that were measured one by one.
pub(crate) fn of_ratios(mut ratios: Vec<f64>) -> Measured {
    ratios.sort_by(f64::total_cmp);
    Measured { ratio: part(&ratios, 1, 2), low: part(&ratios, 1, 4), high: part(&ratios, 3, 4), samples: ratios.len() }
}

/// The value below which `numerator / denominator` of the sorted values lie; the mean of the two in question.
fn part(sorted: &[f64], numerator: usize, denominator: usize) -> f64 {
    let last = sorted.len() - 1;
    let low = last * numerator / denominator;
    let high = (last * numerator).div_ceil(denominator);
    f64::midpoint(sorted[low], sorted[high])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_of_medians() {
        let ms = Duration::from_millis;
        // An outlier moves neither median.
        let measured = summary(&[(ms(2), ms(10)), (ms(900), ms(8)), (ms(4), ms(12))]);
        assert_eq!((measured.ratio, measured.samples), (0.4, 3));
        assert!(measured.low <= measured.high);
        let expected = Measured { ratio: 2.0, low: 1.5, high: 2.5, samples: 3 };
        assert_eq!(of_ratios(vec![3.0, 1.0, 2.0]), expected);
        assert_eq!(part(&[1.0], 1, 2), 1.0);
        assert_eq!(part(&[1.0, 3.0], 1, 2), 2.0);
        assert_eq!(part(&[1.0, 2.0, 3.0, 4.0, 5.0], 3, 4), 4.0);
    }

    #[test]
    fn both_run_in_turns_after_a_warm_up_and_a_failure_ends_it() {
        let order = std::cell::RefCell::new(String::new());
        let push = |letter| {
            order.borrow_mut().push(letter);
            Ok(())
        };
        let measured = in_turns(3, || push('s'), || push('f')).expect("nothing fails");
        assert_eq!((order.borrow().as_str(), measured.samples), ("sfsffssf", 3));
        assert_eq!(in_turns(3, || Err("broken".to_owned()), || Ok(())), Err("broken".to_owned()));
    }
}
