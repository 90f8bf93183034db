// SPDX-License-Identifier: Apache-2.0
// Faults of C++ to be captured; see README.md. This part of the set is held out: no rule was written against it.
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <variant>
#include <vector>

static volatile int zero;
static volatile long sink;

namespace {

struct Track {
  std::string title;
  int length = 0;
  std::shared_ptr<Track> next;
};

class Player {
public:
  explicit Player(int volume) : volume_(volume) {}
  virtual ~Player() = default;
  virtual int play(const Track *track) { return track->length + volume_; }
  int seconds(const std::string &text) const { return std::stoi(text); }
  const Track &at(const std::string &title) const { return tracks_.at(title); }
  int next_length(const Track &track) const { return track.next->length; }
  template <class Filter> int count(Filter filter) const {
    int n = 0;
    for (int i = 0; i < 4; i++) n += filter(i);
    return n;
  }
  std::optional<int> position;

private:
  int volume_;
  std::unordered_map<std::string, Track> tracks_;
};

class Broken : public Player {
public:
  Broken() : Player(1) {}
  int play(const Track *track) override { return (*this)[track->length]; }
  int operator[](int index) const {
    const std::vector<int> none;
    return none.at((size_t)index);
  }
};

int bad_length(Player &player) { return player.seconds("three"); }
int no_track(Player &player) { return player.play(zero ? new Track : nullptr); }
int lost_title(Player &player) { return player.at("nothing").length; }
int last_track(Player &player) {
  Track track;
  return player.next_length(track);
}
int no_position(Player &player) { return player.position.value(); }
int wrong_kind(Player &) {
  std::variant<int, std::string> value = 5 + zero;
  return (int)std::get<std::string>(value).size();
}
int bad_pattern(Player &) {
  std::regex pattern(zero ? "a" : "[a");
  return std::regex_match("a", pattern);
}
int operator_fault(Player &) {
  Broken broken;
  Track track;
  track.length = 9;
  Player &player = broken;
  return player.play(&track);
}
int in_filter(Player &player) {
  return player.count([](int index) {
    if (index == 3) throw std::string("third");
    return 1;
  });
}
int twice_deleted(Player &) {
  Track *track = new Track;
  track->title = "a title that is too long to be kept in place";
  delete track;
  sink += (long)track;
  delete (Track *)(sink - zero);
  return 1;
}

int (*find(const std::string &name))(Player &) {
  static const std::unordered_map<std::string, int (*)(Player &)> all = {
    {"bad-length", bad_length}, {"no-track", no_track}, {"lost-title", lost_title}, {"last-track", last_track},
    {"no-position", no_position}, {"wrong-kind", wrong_kind}, {"bad-pattern", bad_pattern},
    {"operator-fault", operator_fault}, {"in-filter", in_filter}, {"twice-deleted", twice_deleted},
  };
  return all.at(name);
}

} // namespace

int main(int argc, char **argv) {
  int route = argc > 2 ? std::stoi(argv[2]) : 0;
  auto chosen = find(argv[1]);
  Player player(3);
  std::thread idle([] { sleep(1000); });
  if (route == 1) {
    std::thread([&] { sink += chosen(player); }).join();
  } else if (route == 2) {
    std::list<std::unique_ptr<Player>> players;
    players.push_back(std::make_unique<Player>(4));
    for (auto &each : players) sink += chosen(*each);
  }
  return chosen(player);
}
