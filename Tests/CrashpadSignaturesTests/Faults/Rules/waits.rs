// SPDX-License-Identifier: Apache-2.0
// Ends in functions of Rust's library, and of the C library below it, that rules of signatures take.
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Read;
use std::net::TcpListener;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

extern "C" {
    fn pthread_self() -> usize;
    fn pthread_kill(thread: usize, signal: i32) -> i32;
    fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8;
    fn strlen(text: *const u8) -> usize;
}

static MUTEX: Mutex<i32> = Mutex::new(1);
static CONDITION: Condvar = Condvar::new();

fn interrupt() {
    let waiting = unsafe { pthread_self() };
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        unsafe { pthread_kill(waiting, 5) }
    });
}

fn many() -> usize { std::env::args().count() * 10 }

#[inline(never)] fn lock_twice() { let one = MUTEX.lock(); let other = MUTEX.lock(); println!("{:?} {:?}", one.is_ok(), other.is_ok()); }
#[inline(never)] fn wait_for_stock() { let guard = MUTEX.lock().unwrap(); let _guard = CONDITION.wait(guard); }
#[inline(never)] fn park() { std::thread::park() }
#[inline(never)] fn pause() { std::thread::sleep(Duration::from_secs(60)) }
#[inline(never)] fn join() { std::thread::spawn(|| std::thread::sleep(Duration::from_secs(60))).join().unwrap() }
#[inline(never)] fn accept() { TcpListener::bind("127.0.0.1:0").unwrap().accept().unwrap(); }
#[inline(never)] fn read() { let (mut reader, _writer) = std::io::pipe().unwrap(); let mut text = String::new(); reader.read_to_string(&mut text).unwrap(); }
#[inline(never)] fn child() { std::process::Command::new("sleep").arg("2").status().unwrap(); }
#[inline(never)] fn receive() { let (_sender, receiver) = std::sync::mpsc::channel::<i32>(); receiver.recv().unwrap(); }
#[inline(never)] fn index() { let lines = vec![1, 2, 3]; println!("{}", lines[many()]) }
#[inline(never)] fn slice() { let lines = vec![1, 2, 3]; println!("{:?}", &lines[many()..]) }
#[inline(never)] fn unwrap() { let map: HashMap<usize, i32> = HashMap::new(); println!("{}", map.get(&many()).unwrap()) }
#[inline(never)] fn expect() { let number: Result<i32, _> = "x".parse::<i32>(); println!("{}", number.expect("a number")) }
#[inline(never)] fn borrow() { let cell = RefCell::new(1); let _one = cell.borrow_mut(); println!("{}", cell.borrow()) }
#[inline(never)] fn abort() { std::process::abort() }
#[inline(never)] fn copy() { let bytes = vec![1u8; 100_000]; unsafe { memcpy(16 as *mut u8, bytes.as_ptr(), bytes.len()) }; }
#[inline(never)] fn length() { println!("{}", unsafe { strlen(many() as *const u8) }) }
#[inline(never)] fn sort() { let mut lines = vec![3, 1, 2]; lines.sort_by(|_, _| panic!("order")); }
#[inline(never)] fn each() { let lines: Vec<i32> = (0..3).map(|number| 10 / (number - number)).collect(); println!("{lines:?}") }
#[inline(never)] fn thread() { std::thread::spawn(|| unsafe { *(8 as *mut i32) = 1 }).join().unwrap() }
#[inline(never)] fn capacity() { println!("{}", Vec::<u64>::with_capacity(usize::MAX / many()).capacity()) }
#[inline(never)] fn free() { let bytes = unsafe { Vec::from_raw_parts(0x1230 as *mut u8, 1, 64) }; drop(bytes) }

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let faults: &[(&str, fn(), bool)] = &[
        ("wait-lock", lock_twice, true), ("wait-condition", wait_for_stock, true), ("wait-park", park, true),
        ("wait-sleep", pause, true), ("wait-thread", join, true), ("wait-accept", accept, true), ("wait-read", read, true),
        ("wait-child", child, true), ("wait-channel", receive, true), ("vector-index", index, false),
        ("slice-start", slice, false), ("unwrap-none", unwrap, false), ("expect-error", expect, false),
        ("borrow-twice", borrow, false), ("call-abort", abort, false), ("copy-bad", copy, false),
        ("length-bad", length, false), ("sort-panic", sort, false), ("map-divide", each, false),
        ("thread-null", thread, false), ("vector-capacity", capacity, false), ("free-bad", free, false),
    ];
    for (known, function, waits) in faults {
        if *known != name { continue; }
        if *waits { interrupt(); }
        function();
    }
    if name == "main-itself" { unsafe { *(8 as *mut i32) = 1 } }
}
