use skillgate_policy::Approved;

fn main() {}

fn duplicates<T: Clone>(_: T) {}

fn twice(approved: Approved) {
    duplicates(approved);
}

fn redeemed_twice(approved: Approved) {
    let _first = approved.redeem();
    let _second = approved.redeem();
}
