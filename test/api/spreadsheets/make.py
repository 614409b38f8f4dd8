# Makes the fixtures; see README.md. Usage: python make.py FOLDER
import datetime, sys, os
import openpyxl, xlsxwriter
from openpyxl.styles import numbers
out = sys.argv[1]
path = lambda name: os.path.join(out, name)

# openpyxl: title above a merged header, header on line 7, a formula without a stored value, a total in the last line
book = openpyxl.Workbook()
sheet = book.active
sheet.title = 'September'
sheet['A1'] = 'Commissions'
sheet.merge_cells('A1:E1')
sheet['A3'] = 'Exported'; sheet['B3'] = datetime.date(2026, 10, 1)
for at, name in enumerate(['Order', 'Partner e-mail', 'Commission', 'Currency', 'Date'], 1):
    sheet.cell(7, at, name)
lines = [('1001', 'ada@example.com', 31.9, 'EUR', datetime.date(2026, 9, 1)), ('1002', 'ada@example.com', 1000.5, 'EUR', datetime.date(2026, 9, 2))]
for row, line in enumerate(lines, 8):
    for at, value in enumerate(line, 1):
        cell = sheet.cell(row, at, value)
        if at == 3: cell.number_format = '#,##0.00'
sheet['B10'] = 'Total'; sheet['C10'] = '=SUM(C8:C9)'
book.save(path('openpyxl.xlsx'))

# xlsxwriter: dates of 1904, a formula with a stored value, text ids with leading zeros
book = xlsxwriter.Workbook(path('xlsxwriter-1904.xlsx'), {'date_1904': True})
sheet = book.add_worksheet('Partners')
day = book.add_format({'num_format': 'dd/mm/yyyy'}); money = book.add_format({'num_format': '#,##0.00 "EUR"'})
for at, name in enumerate(['Order', 'Partner e-mail', 'Commission', 'Date']): sheet.write(0, at, name)
sheet.write_string(1, 0, '00042'); sheet.write(1, 1, 'ada@example.com')
sheet.write_formula(1, 2, '=2*15.95', money, 31.9); sheet.write_datetime(1, 3, datetime.datetime(2026, 9, 1), day)
book.close()

# the sheet that LibreOffice calculates and saves by itself
with open(path("libreoffice.csv"), 'w') as file:
    file.write('Order;Partner e-mail;Commission;Currency;Date;Double\n')
    file.write('00042;ada@example.com;31.90;EUR;2026-09-01;=C2*2\n')
    file.write('00043;ada@example.com;1000.50;EUR;2026-09-02;=C3*2\n')
