//! How much of each description there is room for.

use super::entry::{Item, rest};
use super::{ListingForm, MAX_DESCRIPTION_CHARS, MIN_DESCRIPTION_CHARS};
use std::cmp::Reverse;

/// The room of each skill's description, in characters; without any the skill is not named.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fit {
    pub(super) rooms: Vec<Option<usize>>,
    /// Whether anything was cut to the budget.
    pub(super) is_cut: bool,
    /// Whether there is room to say how many are not named.
    pub(super) names_the_rest: bool,
}

/// Gives each skill its room.
pub(super) fn fit(items: &[Item<'_>], budget: usize, form: ListingForm) -> Fit {
    let done =
        |rooms: Vec<usize>, is_cut| Fit { rooms: rooms.into_iter().map(Some).collect(), is_cut, names_the_rest: false };
    if cost(items, &vec![0; items.len()], form) > budget {
        return names(items, budget, form);
    }
    let whole = vec![MAX_DESCRIPTION_CHARS; items.len()];
    if cost(items, &whole, form) <= budget {
        return done(whole, false);
    }
    let pinned: Vec<bool> = items.iter().map(|item| item.pinned).collect();
    if let Some(rooms) = share(items, &pinned, budget, form) {
        return done(rooms, true);
    }
    // The pinned ones alone exceed the budget, together with the names of the others.
    if let Some(rooms) = share(items, &vec![false; items.len()], budget, form) {
        return done(rooms, true);
    }
    names(items, budget, form)
}

fn cost(items: &[Item<'_>], rooms: &[usize], form: ListingForm) -> usize {
    items.iter().zip(rooms).map(|(item, room)| item.cost(*room, form)).sum()
}

/// Rooms with which all names fit: what is `kept` whole, the others sharing the rest; `None` when there are none.
fn share(items: &[Item<'_>], kept: &[bool], budget: usize, form: ListingForm) -> Option<Vec<usize>> {
    // By use, then by name from the end, so that ties lose in a fixed order.
    let mut order: Vec<usize> = (0..items.len()).filter(|index| !kept[*index]).collect();
    order.sort_by_key(|index| (items[*index].used, Reverse(*index)));
    let rooms = |gone: usize, room: usize| {
        let mut rooms: Vec<usize> = kept.iter().map(|kept| if *kept { MAX_DESCRIPTION_CHARS } else { room }).collect();
        for index in &order[..gone] {
            rooms[*index] = 0;
        }
        rooms
    };
    let fits = |gone: usize, room: usize| cost(items, &rooms(gone, room), form) <= budget;
    // Fewer descriptions and less room never cost more, so both are searched by halves.
    let gone = first(0, order.len(), |gone| fits(gone, MIN_DESCRIPTION_CHARS))?;
    let room =
        first(0, MAX_DESCRIPTION_CHARS - MIN_DESCRIPTION_CHARS, |less| fits(gone, MAX_DESCRIPTION_CHARS - less))?;
    Some(rooms(gone, MAX_DESCRIPTION_CHARS - room))
}

/// The first number from `low` to `high` that holds, when all behind one that holds do.
fn first(low: usize, high: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut low, mut end) = (low, high);
    if !holds(high) {
        return None;
    }
    while low < end {
        let middle = low.midpoint(end);
        if holds(middle) { end = middle } else { low = middle + 1 }
    }
    Some(low)
}

/// As many names as fit, the pinned and the most used first, with room for how many are left.
fn names(items: &[Item<'_>], budget: usize, form: ListingForm) -> Fit {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|index| (Reverse(items[*index].pinned), Reverse(items[*index].used), *index));
    let more = rest(form, items.len()).chars().count();
    let names_the_rest = more <= budget;
    let mut left = if names_the_rest { budget - more } else { 0 };
    let mut rooms = vec![None; items.len()];
    for index in order {
        // What is longer than the rest ends the list, so that a short name is not preferred to a useful one.
        let Some(after) = left.checked_sub(items[index].cost(0, form)) else { break };
        left = after;
        rooms[index] = Some(0);
    }
    Fit { rooms, is_cut: true, names_the_rest }
}
