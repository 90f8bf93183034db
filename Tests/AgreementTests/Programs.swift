// SPDX-License-Identifier: Apache-2.0
/// The sources that the tests compile: small, and with what makes line tables and inlined calls hard.
enum Programs {
  static let cHeader = """
    #include <stddef.h>
    #include <stdint.h>
    struct node { struct node *left, *right; uint32_t key; };
    struct node *tree_insert(struct node *root, uint32_t key);
    unsigned tree_sum(const struct node *root);
    uint32_t hash_bytes(const void *data, size_t size);
    int classify(char *out, size_t size, long value);
    static inline uint32_t rotate(uint32_t v, unsigned by) { return (v << by) | (v >> (32 - by)); }
    static inline uint32_t mix(uint32_t a, uint32_t b) {
      a ^= rotate(b, 7);
      a *= 0x9E3779B1u;
      return a ^ (a >> 15);
    }
    static inline __attribute__((always_inline)) uint32_t mix_three(uint32_t a, uint32_t b, uint32_t c) {
      uint32_t x = mix(a, b);
      if (x & 1)
        x = mix(x, c);
      else
        x = mix(c, x) + 1;
      return x;
    }
    """

  /// A function of the same name as one in the other file, an alias, a recursive one that gcc puts into itself, a jump
  /// table, and a call that does not return.
  static let cLibrary = """
    #include "program.h"
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    static int helper(int x) {
      if (__builtin_expect(x < 0, 0)) {
        fprintf(stderr, "negative %d\\n", x);
        abort();
      }
      return x * 3 + 1;
    }
    struct node *tree_insert(struct node *root, uint32_t key) {
      if (!root) {
        struct node *made = calloc(1, sizeof *made);
        if (!made) abort();
        made->key = key;
        return made;
      }
      if (key < root->key)
        root->left = tree_insert(root->left, key);
      else if (key > root->key)
        root->right = tree_insert(root->right, key);
      return root;
    }
    unsigned tree_sum(const struct node *root) {
      unsigned sum = 0;
      while (root) {
        sum = mix_three(sum, root->key, (uint32_t)helper((int)(root->key & 0xFFFF)));
        if (root->left && root->right) {
          sum += tree_sum(root->left);
          root = root->right;
        } else {
          root = root->left ? root->left : root->right;
        }
      }
      return sum;
    }
    uint32_t hash_bytes(const void *data, size_t size) {
      const unsigned char *p = data;
      uint32_t h = (uint32_t)size;
      for (size_t i = 0; i + 2 < size; i += 3) h = mix_three(h, p[i], (uint32_t)(p[i + 1] << 8 | p[i + 2]));
      return h;
    }
    uint32_t hash_alias(const void *data, size_t size) __attribute__((alias("hash_bytes")));
    int classify(char *out, size_t size, long value) {
      switch (value % 9) {
      case 0: return snprintf(out, size, "zero %ld", value);
      case 1: return snprintf(out, size, "one %#lx", value);
      case 2: return snprintf(out, size, "two %lo", value);
      case 3: return (int)strlen(strncpy(out, "three", size));
      case 4: memset(out, (int)value, size); out[size - 1] = 0; return (int)size;
      case 5: return helper((int)value);
      case 6: return (int)hash_bytes(&value, sizeof value);
      default: break;
      }
      out[0] = 0;
      return -1;
    }
    """

  static let cMain = """
    #include "program.h"
    #include <stdio.h>
    #include <stdlib.h>
    static int helper(int x) { return x ^ 0x55; }
    static __attribute__((noinline)) int collatz(unsigned n) {
      int steps = 0;
      for (; n > 1; steps++) n = n & 1 ? 3 * n + 1 : n / 2;
      return steps;
    }
    static void sort_numbers(uint32_t *v, int lo, int hi) {
      if (lo >= hi) return;
      uint32_t pivot = v[(lo + hi) / 2];
      int i = lo, j = hi;
      while (i <= j) {
        while (v[i] < pivot) i++;
        while (v[j] > pivot) j--;
        if (i <= j) {
          uint32_t t = v[i];
          v[i++] = v[j];
          v[j--] = t;
        }
      }
      sort_numbers(v, lo, j);
      sort_numbers(v, i, hi);
    }
    __attribute__((cold, noinline)) static void fail(const char *why) {
      fprintf(stderr, "failed: %s\\n", why);
      exit(3);
    }
    int main(int argc, char **argv) {
      uint32_t numbers[64], seed = (uint32_t)argc;
      struct node *root = NULL;
      for (int i = 0; i < 64; i++) {
        seed = mix(seed, (uint32_t)i);
        numbers[i] = seed;
        root = tree_insert(root, seed % 4096);
      }
      sort_numbers(numbers, 0, 63);
      for (int i = 1; i < 64; i++)
        if (numbers[i - 1] > numbers[i]) fail("order");
      char text[64];
      int total = 0;
      for (long i = 0; i < 22; i++) total += classify(text, sizeof text, i * argc);
      total += collatz(numbers[3] % 1000 + 1) + helper(total);
    #line 1000 "generated.y"
      total += (int)tree_sum(root);
      if (argc > 5) fail(argv[1]);
      printf("%d\\n", total & 0xFF);
      return 0;
    }
    """

  /// Templates, lambdas, constructors with two symbols, exceptions, a local class, an unnamed namespace.
  static let cxx = """
    #include <memory>
    #include <string>
    #include <vector>
    namespace geometry { inline namespace v2 {
    struct Point { double x = 0, y = 0; };
    class Shape {
    public:
      explicit Shape(std::string name) : name_(std::move(name)) {}
      virtual ~Shape();
      virtual double area() const = 0;
      const std::string &name() const { return name_; }
    private:
      std::string name_;
    };
    Shape::~Shape() = default;
    template <typename T, int Sides> class Polygon final : public Shape {
    public:
      Polygon(std::string name, T edge) : Shape(std::move(name)), edge_(edge) {
        if (edge < T{}) throw std::string("edge of ") + this->name();
      }
      double area() const override {
        double a = 0;
        for (int i = 0; i < Sides; i++) a += corner(i).x * corner(i + 1).y - corner(i + 1).x * corner(i).y;
        return a / 2;
      }
    private:
      Point corner(int i) const {
        static const double table[] = {0, 1, 0.5, -0.5, -1, 0.25};
        return {table[i % 6] * double(edge_), table[(i + 2) % 6] * double(edge_)};
      }
      T edge_;
    };
    } }
    namespace {
    template <typename F, typename... A> inline __attribute__((always_inline)) auto traced(F &&f, A &&...a) {
      struct Depth { int &d; ~Depth() { --d; } };
      static int depth;
      Depth guard{++depth};
      return f(a...);
    }
    template <int N> struct Ladder { static long climb(long x) { return Ladder<N - 1>::climb(x * 3 + N) ^ x; } };
    template <> struct Ladder<0> { static long climb(long x) { return x % 1009; } };
    std::vector<std::unique_ptr<geometry::Shape>> shapes(int count) {
      std::vector<std::unique_ptr<geometry::Shape>> all;
      for (int i = 0; i < count; i++) {
        try {
          if (i % 2) all.push_back(std::make_unique<geometry::Polygon<double, 3>>("triangle", i - 2.0));
          else all.push_back(std::make_unique<geometry::Polygon<int, 6>>("hexagon", i - 2));
        } catch (const std::string &why) {
          all.push_back(std::make_unique<geometry::Polygon<float, 4>>(why, 1.0f));
        }
      }
      return all;
    }
    }
    int main(int argc, char **) {
      double area = 0;
      for (auto &shape : shapes(10 + argc)) area = traced([&](double x) { return x + shape->area(); }, area);
      return int(area + Ladder<8>::climb(argc)) & 1;
    }
    """

  /// Generics, closures, errors, an actor, tasks, an indirect enumeration.
  static let swift = """
    protocol Shape { var area: Double { get } }
    struct Square: Shape { var side: Double; var area: Double { side * side } }
    struct Circle: Shape { var radius: Double; var area: Double { 3.14 * radius * radius } }
    enum Failure: Error { case empty, tooMany(Int) }
    final class Store<Key: Hashable, Item> {
      private var items: [Key: [Item]] = [:]
      func insert(_ item: Item, for key: Key) throws {
        if items.count > 100 { throw Failure.tooMany(items.count) }
        items[key, default: []].append(item)
      }
      func fold<Result>(_ start: Result, _ next: (Result, Key, Item) -> Result) -> Result {
        var result = start
        for (key, list) in items { for item in list { result = next(result, key, item) } }
        return result
      }
    }
    @inline(__always) func clamp<T: Comparable>(_ value: T, _ low: T, _ high: T) -> T {
      if value < low { return low }
      return value > high ? high : value
    }
    func parse(_ text: String) throws -> [Int] {
      guard !text.isEmpty else { throw Failure.empty }
      return text.split(separator: ",").compactMap { Int($0) }.map { clamp($0, 0, 50) }.sorted(by: >)
    }
    actor Counter {
      private(set) var value = 0
      func add(_ n: Int) -> Int { value &+= n; return value }
    }
    func work(_ counter: Counter, _ n: Int) async -> Int {
      var sum = 0
      for i in 0..<n { sum += await counter.add(i) }
      return sum
    }
    indirect enum Tree {
      case leaf, node(Tree, Int, Tree)
      func inserting(_ v: Int) -> Tree {
        switch self {
        case .leaf: return .node(.leaf, v, .leaf)
        case let .node(l, x, r) where v < x: return .node(l.inserting(v), x, r)
        case let .node(l, x, r): return .node(l, x, r.inserting(v))
        }
      }
    }
    @main struct Main {
      static func main() async {
        let store = Store<String, any Shape>()
        for i in 1...20 {
          do { try store.insert(i % 2 == 0 ? Square(side: Double(i)) : Circle(radius: Double(i)), for: "k\\(i % 5)") }
          catch { print("insert: \\(error)") }
        }
        let areas = store.fold(0.0) { $0 + $2.area + Double($1.count) }
        let counter = Counter()
        var tree = Tree.leaf
        for n in (try? parse("3,9,77,-4,x,12")) ?? [] { tree = tree.inserting(n + (await work(counter, n))) }
        print(areas > 0, tree)
      }
    }
    """
}
