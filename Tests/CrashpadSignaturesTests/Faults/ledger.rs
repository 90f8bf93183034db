// SPDX-License-Identifier: Apache-2.0
// Faults of Rust to be captured; see README.md. The part of the set that rules were written against.
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static ZERO: AtomicUsize = AtomicUsize::new(0);

fn zero() -> usize {
    ZERO.load(Ordering::Relaxed)
}

struct Account {
    entries: Vec<i64>,
    names: HashMap<String, usize>,
    lock: RefCell<i64>,
}

#[derive(Debug)]
struct Refused;

impl Account {
    fn new() -> Self {
        Account { entries: vec![1, 2, 3], names: HashMap::new(), lock: RefCell::new(1) }
    }
    fn entry(&self, index: usize) -> i64 {
        self.entries[index]
    }
    fn named(&self, name: &str) -> usize {
        *self.names.get(name).unwrap()
    }
    fn withdraw(&self, amount: i64) -> Result<i64, Refused> {
        if amount > zero() as i64 { Err(Refused) } else { Ok(amount) }
    }
    fn close(&self) -> i64 {
        self.withdraw(5).expect("closed")
    }
    fn twice(&self) -> i64 {
        let first = self.lock.borrow_mut();
        let second = self.lock.borrow_mut();
        *first + *second
    }
    #[inline(never)]
    fn share(&self, count: i64) -> i64 {
        self.entries.iter().map(|entry| entry / count).sum()
    }
    #[inline(never)]
    fn depth(&self, level: usize) -> usize {
        let room = [level; 32];
        self.depth(level + 1) + std::hint::black_box(room)[zero()]
    }
}

trait Audit {
    fn audit(&self) -> i64;
}
impl Audit for Account {
    fn audit(&self) -> i64 {
        assert_eq!(self.entries.len(), zero(), "entries are left");
        1
    }
}

#[inline(never)]
fn peek(place: *const i64) -> i64 {
    unsafe { std::ptr::read_volatile(place) }
}

fn cut(text: &str, end: usize) -> &str {
    &text[..end]
}

type Fault = fn() -> i64;

#[inline(never)]
fn past_end() -> i64 {
    Account::new().entry(7 + zero())
}
#[inline(never)]
fn no_name() -> i64 {
    Account::new().named("none") as i64
}
#[inline(never)]
fn refused() -> i64 {
    Account::new().close()
}
#[inline(never)]
fn borrowed_twice() -> i64 {
    Account::new().twice()
}
#[inline(never)]
fn zero_share() -> i64 {
    Account::new().share(zero() as i64)
}
#[inline(never)]
fn endless_depth() -> i64 {
    Account::new().depth(0) as i64
}
#[inline(never)]
fn failed_audit() -> i64 {
    let audit: Box<dyn Audit> = Box::new(Account::new());
    audit.audit()
}
#[inline(never)]
fn null_place() -> i64 {
    peek(zero() as *const i64)
}
#[inline(never)]
fn cut_letter() -> i64 {
    cut("ä", 1 + zero()).len() as i64
}
#[inline(never)]
fn in_filter() -> i64 {
    (1..5).filter(|n| if *n > 3 { panic!("too many") } else { true }).count() as i64
}

const FAULTS: [(&str, Fault); 10] = [
    ("past-end", past_end),
    ("no-name", no_name),
    ("refused", refused),
    ("borrowed-twice", borrowed_twice),
    ("zero-share", zero_share),
    ("endless-depth", endless_depth),
    ("failed-audit", failed_audit),
    ("null-place", null_place),
    ("cut-letter", cut_letter),
    ("in-filter", in_filter),
];

#[inline(never)]
fn post(fault: Fault, hops: usize) -> i64 {
    if hops == 0 { fault() } else { post(fault, hops - 1) + 1 }
}

fn main() {
    let name = std::env::args().nth(1).unwrap();
    let route: usize = std::env::args().nth(2).unwrap_or("0".into()).parse().unwrap();
    let fault = FAULTS.iter().find(|f| f.0 == name).unwrap().1;
    let _idle = thread::spawn(|| thread::park());
    let result = match route {
        1 => thread::spawn(move || fault()).join().unwrap(),
        2 => post(fault, 3),
        _ => fault(),
    };
    println!("{result}");
}
