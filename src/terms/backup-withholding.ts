/**
 * The rate of backup withholding in hundredths of a percent: the fourth lowest rate of 26 USC 1(c), 24 % since 2018 (26 USC 3406(a)(1);
 * IRS Publication 1281, as jimlynchlaw.com and gsacpas.com quote the IRS). It is withheld from the whole payment to a payee in the United
 * States who has not furnished a TIN, once the payments of the year reach the threshold of Form 1099-NEC, or if in the year before they
 * did or something was withheld (26 USC 3406(b)(6), 97 Stat. 373; its sum follows section 6041(a) since 2026, Public Law 119-21, section
 * 70433). Box 4 of Form 1099-NEC has the sum, and the form is due whatever the amount. Checked on 2026-11-27.
 */
export const BACKUP_WITHHOLDING_RATE = 2400;
