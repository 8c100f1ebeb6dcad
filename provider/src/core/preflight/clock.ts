import { durationText } from "../amount-text";
import type { Finding } from "../finding";

/** When the host was looked at, by the clock of this machine. */
export interface Moment {
  readonly from: Date;
  readonly to: Date;
}

const WARN_SECONDS = 60;
const DAY_SECONDS = 86_400;

/** The host told its time at some moment between the two: only what lies outside is a difference. */
export function clockFindings(clockSeconds: number | null, asked: Moment | null): readonly Finding[] {
  if (asked === null || clockSeconds === null) return [];
  const [from, to] = [asked.from.getTime() / 1000, asked.to.getTime() / 1000];
  const behind = from - clockSeconds;
  const ahead = clockSeconds - to;
  const apart = Math.max(behind, ahead);
  // A clock that was set back meanwhile tells nothing.
  if (to < from || apart <= WARN_SECONDS) return [];
  const side = behind > 0 ? "behind" : "ahead of";
  const risk = apart > DAY_SECONDS ? "are likely" : "may come";
  return [
    {
      severity: "warning",
      code: "CLOCK_OFF",
      summary: `the host's clock is ${durationText(apart)} ${side} this machine's: certificates and tokens ${risk} to be taken for expired, or for not valid yet`,
      change: "on the host: sudo timedatectl set-ntp true   (or the clock of this machine)",
    },
  ];
}
