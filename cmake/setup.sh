# Set-up shared by ./run and ./test: packages, then a build that does nothing when nothing changed.

CELLAR_BUILD_PACKAGES="g++ cmake ninja-build pkg-config python3 python3-dev pybind11-dev nlohmann-json3-dev \
libabsl-dev libcli11-dev libreadline-dev libpng-dev libgumbo-dev libgtest-dev libgmock-dev"

# cellar_packages NAME…: installs those that are missing.
cellar_packages() {
  missing=
  for package in "$@"; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
      installed) ;;
      *) missing="$missing $package" ;;
    esac
  done
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    echo "cellar: missing Debian packages:$missing" >&2
    echo "cellar: run this once as root, or: apt-get install$missing" >&2
    exit 3
  fi
  echo "cellar: installing Debian packages:$missing" >&2
  apt-get update -qq >&2
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
}

# cellar_build ROOT PRESET TARGET…: the stamp is newer than every source when there is nothing to do, which one find
# tells quicker than a build tool starts.
cellar_build() {
  source_dir=$1 preset=$2
  shift 2
  case $preset in release) build_dir=$source_dir/build ;; *) build_dir=$source_dir/build-$preset ;; esac
  stamp=$build_dir/.built-$(echo "$*" | tr -c 'a-z_' '-')
  if [ -e "$stamp" ] && [ -z "$(cd "$source_dir" && find CMakeLists.txt CMakePresets.json cmake host embed python prelude \
       notebook tests -newer "$stamp" -print -quit 2>/dev/null)" ]; then
    return 0
  fi
  # shellcheck disable=SC2086
  cellar_packages $CELLAR_BUILD_PACKAGES
  mkdir -p "$build_dir"
  touch "$stamp.new"
  log=$build_dir/.log
  if ! { [ -e "$build_dir/build.ninja" ] || (cd "$source_dir" && cmake --preset "$preset"); } >"$log" 2>&1; then
    cat "$log" >&2
    exit 3
  fi
  if [ -t 2 ]; then
    cmake --build "$build_dir" --target "$@" >&2 || exit 3
  else
    cmake --build "$build_dir" --target "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 3; }
  fi
  mv "$stamp.new" "$stamp"
}
