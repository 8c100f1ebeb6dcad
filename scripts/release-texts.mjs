// What a release changes in the files of the repository, as text to text.

const UNRELEASED = "## [Unreleased]";
const VERSION = /^(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?$/;

/**
 * CHANGELOG.md with what was unreleased under its version.
 * @param {string} text @param {string} version @param {string} day YYYY-MM-DD @returns {string}
 */
export function releasedChangelog(text, version, day) {
  if (notesOf(text, version) !== null)
    throw new Error(`Cannot release ${version}: found it in CHANGELOG.md, need a version that is not there`);
  const [before, rest] = text.split(`${UNRELEASED}\n`);
  if (before === undefined || rest === undefined)
    throw new Error(`Cannot release ${version}: CHANGELOG.md has no ${UNRELEASED}`);
  const notes = rest.split(/^## /m)[0] ?? "";
  if (!/^- /m.test(notes))
    throw new Error(
      `Cannot release ${version}: found nothing unreleased in CHANGELOG.md, need what a user notices`,
    );
  return `${before}${UNRELEASED}\n\n## [${version}] - ${day}\n${rest}`;
}

/**
 * What CHANGELOG.md says of a version.
 * @param {string} text @param {string} version @returns {string | null} null: it has no dated section
 */
export function notesOf(text, version) {
  const sections = text.split(/^## /m);
  const dated = new RegExp(`^\\[${version.replace(/[.+]/g, "\\$&")}\\] - \\d{4}-\\d{2}-\\d{2}\n`);
  const found = sections.find((section) => dated.test(section));
  return found === undefined ? null : found.replace(dated, "").trim();
}

/**
 * The version that can be tried today: the present one while it is not released, the next one after that.
 * @param {string} changelog @param {string} present @returns {string | null} null: everything is released
 */
export function pendingVersion(changelog, present) {
  if (notesOf(changelog, present) === null) return present;
  const unreleased = changelog.split(`${UNRELEASED}\n`)[1]?.split(/^## /m)[0] ?? "";
  if (!/^- /m.test(unreleased)) return null;
  const [, major = "", minor = "", patch = ""] = VERSION.exec(present) ?? [];
  return [major, minor, String(Number(patch) + 1)].join(".");
}

/**
 * Refuses what is no version, and one that is older than the present one.
 * @param {string} version @param {string} present @returns {void}
 */
export function checkVersion(version, present) {
  if (!VERSION.test(version))
    throw new Error(`Cannot release ${version}: need a version such as 1.2.3 or 1.2.3-rc.1`);
  if (version !== present && !isNewer(version, present))
    throw new Error(
      `Cannot release ${version}: found ${present} in provider/package.json, need that or a newer one`,
    );
}

/** @param {string} one @param {string} other both of the form above @returns {boolean} */
function isNewer(one, other) {
  const [, ...left] = VERSION.exec(one) ?? [];
  const [, ...right] = VERSION.exec(other) ?? [];
  for (const index of [0, 1, 2]) {
    const difference = Number(left[index]) - Number(right[index]);
    if (difference !== 0) return difference > 0;
  }
  // The release itself comes after those on the way to it.
  const [before = "", after = ""] = [right[3], left[3]];
  return after === "" ? before !== "" : before !== "" && after > before;
}

/**
 * A package.json, lock file or README with the version in every place that names the package's.
 * @param {string} text @param {string} present @param {string} version @returns {string}
 */
export function withVersion(text, present, version) {
  const own = present.replaceAll(".", "\\.");
  return text
    .replace(new RegExp(`("name": "pulumi-vllm",\\s+"version": ")${own}"`, "g"), `$1${version}"`)
    .replace(new RegExp(`("pulumi-vllm": ")${own}"`, "g"), `$1${version}"`)
    .replace(new RegExp(`(pulumi-vllm-)${own}(\\.tgz)`, "g"), `$1${version}$2`);
}
