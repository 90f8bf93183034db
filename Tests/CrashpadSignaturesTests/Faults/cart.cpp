// SPDX-License-Identifier: Apache-2.0
// Faults of C++ to be captured; see README.md. The part of the set that rules were written against.
#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static volatile int zero;
static volatile long sink;

namespace shop {

struct Item {
  std::string name;
  int price;
};

struct Cart {
  std::vector<Item> items;
  std::map<std::string, int> stock;
  std::function<int(int)> discount;

  int price(size_t index) const { return items.at(index).price; }
  int total() const {
    int sum = 0;
    for (size_t i = 0; i <= items.size(); i++) sum += price(i);
    return sum;
  }
  template <class T> T in_stock(const T &amount, const std::string &name) { return stock.at(name) + amount; }
  void apply();
  int number = 3;
};

__attribute__((noinline)) void Cart::apply() { sink += discount(number); }

struct Payment {
  virtual ~Payment() {}
  virtual int pay(int) = 0;
};
struct Card : Payment {
  int pay(int amount) override { return amount; }
};
struct Cash : Payment {
  int pay(int amount) override { return amount + 1; }
};

static int past_end(Cart &cart) { return cart.total(); }

static int missing_stock(Cart &cart) { return cart.in_stock<int>(4, "plum") + (int)cart.in_stock<long>(4L, "plum"); }

static int empty_discount(Cart &cart) {
  cart.discount = nullptr;
  cart.apply();
  return 1;
}

static int null_cart(Cart &) {
  Cart *none = zero ? new Cart : nullptr;
  return none->number;
}

static int wrong_payment(Cart &cart) {
  std::unique_ptr<Payment> payment = std::make_unique<Cash>();
  return dynamic_cast<Card &>(*payment).pay(cart.number);
}

__attribute__((noinline)) static void release(Cart &cart) noexcept {
  if (cart.number > 0) throw std::runtime_error("not released");
}
static int throwing_release(Cart &cart) {
  release(cart);
  return 1;
}

static int lost_thread(Cart &cart) {
  std::thread thread([&] { sleep(100 + (unsigned)cart.number); });
  return 1;
}

static int sorted(Cart &cart) {
  std::sort(cart.items.begin(), cart.items.end(), [](const Item &one, const Item &two) {
    if (one.price == 0 || two.price == 0) throw std::invalid_argument("free of charge");
    return one.price < two.price;
  });
  return cart.items[0].price;
}

static int null_name(Cart &cart) {
  const char *name = zero ? "x" : nullptr;
  std::string text(name);
  cart.items.push_back({text, 1});
  return 1;
}

__attribute__((noinline)) static int count_all(Cart &cart, int depth) {
  volatile char room[160];
  room[0] = 1;
  return count_all(cart, depth + 1) + room[0];
}
static int endless_count(Cart &cart) { return count_all(cart, 0); }

} // namespace shop

using namespace shop;

static const std::map<std::string, int (*)(Cart &)> &faults() {
  static const std::map<std::string, int (*)(Cart &)> all = {
    {"past-end", past_end}, {"missing-stock", missing_stock}, {"empty-discount", empty_discount},
    {"null-cart", null_cart}, {"wrong-payment", wrong_payment}, {"throwing-release", throwing_release},
    {"lost-thread", lost_thread}, {"sorted", sorted}, {"null-name", null_name}, {"endless-count", endless_count},
  };
  return all;
}

struct Router {
  std::vector<std::function<int(Cart &)>> handlers;
  int route(Cart &cart) {
    int sum = 0;
    for (auto &handler : handlers) sum += handler(cart);
    return sum;
  }
};

int main(int argc, char **argv) {
  int route = argc > 2 ? std::stoi(argv[2]) : 0;
  auto chosen = faults().at(argv[1]);
  Cart cart;
  cart.items = {{"pear", 3}, {"apple", 0}, {"fig", 2}};
  std::thread idle([] { pause(); });
  if (route == 1) {
    std::thread worker([&] { sink += chosen(cart); });
    worker.join();
  } else if (route == 2) {
    Router router;
    router.handlers.push_back([&](Cart &given) { return chosen(given) + 1; });
    return router.route(cart);
  }
  return chosen(cart);
}
