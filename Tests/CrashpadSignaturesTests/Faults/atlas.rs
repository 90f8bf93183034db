// SPDX-License-Identifier: Apache-2.0
// Faults of Rust to be captured; see README.md. This part of the set is held out: no rule was written against it.
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

static ZERO: AtomicI64 = AtomicI64::new(0);

fn zero() -> i64 {
    ZERO.load(Ordering::Relaxed)
}

mod map {
    use super::*;

    #[derive(Default)]
    pub struct Atlas {
        pub pages: BTreeMap<String, Vec<u8>>,
        pub queue: VecDeque<i64>,
    }

    pub trait Draw {
        fn draw(&self, scale: i64) -> i64;
        fn twice(&self, scale: i64) -> i64 {
            self.draw(scale) + self.draw(scale)
        }
    }

    impl Draw for Atlas {
        fn draw(&self, scale: i64) -> i64 {
            100 % scale
        }
    }

    impl Atlas {
        pub fn page(&self, name: &str) -> &Vec<u8> {
            &self.pages[name]
        }
        pub fn next(&mut self) -> i64 {
            self.queue.pop_front().unwrap()
        }
        pub fn number(&self, text: &str) -> i64 {
            text.parse::<i64>().unwrap()
        }
        #[inline(never)]
        pub fn copy(&self, size: usize) -> Vec<u8> {
            let mut room = vec![0u8; 4];
            room.copy_from_slice(&vec![1u8; size]);
            room
        }
        pub fn legend<T: std::fmt::Debug>(&self, items: &[T]) -> String {
            match items.len() {
                0 => unreachable!("an empty legend"),
                _ => format!("{:?}", items[0]),
            }
        }
        #[inline(never)]
        pub fn poke(&mut self, place: usize) {
            unsafe { std::ptr::write_volatile(place as *mut u8, 1) }
        }
    }
}

use map::{Atlas, Draw};

#[inline(never)]
fn windows(values: &[i64], size: usize) -> i64 {
    values.chunks(size).map(|part| part[0]).sum()
}

#[inline(never)]
fn poisoned() -> i64 {
    let (sender, receiver) = mpsc::channel::<i64>();
    drop(sender);
    receiver.recv().unwrap()
}

#[inline(never)]
fn held() -> i64 {
    let lock = Arc::new(Mutex::new(Some(3i64)));
    let taken = lock.lock().unwrap().take();
    let second = lock.lock().unwrap().expect("a second one");
    taken.unwrap() + second
}

type Fault = fn() -> i64;

#[inline(never)]
fn no_page() -> i64 {
    Atlas::default().page("none").len() as i64
}
#[inline(never)]
fn empty_queue() -> i64 {
    Atlas::default().next()
}
#[inline(never)]
fn bad_number() -> i64 {
    Atlas::default().number("x")
}
#[inline(never)]
fn zero_scale() -> i64 {
    Atlas::default().twice(zero())
}
#[inline(never)]
fn wrong_size() -> i64 {
    Atlas::default().copy(9 + zero() as usize).len() as i64
}
#[inline(never)]
fn empty_legend() -> i64 {
    Atlas::default().legend::<i64>(&[]).len() as i64
}
#[inline(never)]
fn bad_place() -> i64 {
    Atlas::default().poke(0x7000_0000 + zero() as usize);
    1
}
#[inline(never)]
fn zero_window() -> i64 {
    windows(&[1, 2], zero() as usize)
}

const FAULTS: [(&str, Fault); 10] = [
    ("no-page", no_page),
    ("empty-queue", empty_queue),
    ("bad-number", bad_number),
    ("zero-scale", zero_scale),
    ("wrong-size", wrong_size),
    ("empty-legend", empty_legend),
    ("bad-place", bad_place),
    ("zero-window", zero_window),
    ("closed-channel", poisoned),
    ("taken-twice", held),
];

fn main() {
    let name = std::env::args().nth(1).unwrap();
    let route: usize = std::env::args().nth(2).unwrap_or("0".into()).parse().unwrap();
    let fault = FAULTS.iter().find(|f| f.0 == name).unwrap().1;
    let result: i64 = match route {
        1 => thread::Builder::new().name("drawer".into()).spawn(move || fault()).unwrap().join().unwrap(),
        2 => vec![fault].into_iter().map(|each| each()).sum(),
        _ => fault(),
    };
    println!("{result}");
}
